#include "progress/kernels/candidates.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace rubato::progress::kernels {
namespace {

// Rows of one launch find what comes once an iteration; longer rows tell apart launches that come many times.
constexpr std::array<std::size_t, 3> kRows = {1, 4, 16};
constexpr std::size_t kByVotes = 8;     // distances taken because many launches come again after them
constexpr std::size_t kByRegular = 8;   // and because some come again after them all the time
constexpr std::size_t kBlurFrom = 128;  // a longer distance differs by launches lost in between

/// Latest position of a row of launches, by its hash.
class LatestPositions {
 public:
  explicit LatestPositions(std::size_t rows) : slots_(std::bit_ceil(2 * rows + 2)) {}

  /// The position before this one, plus one; 0: none.
  std::uint32_t exchange(std::uint64_t key, std::uint32_t position) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (key ^ (key >> 31U)) & mask;
    while (slots_[at].position != 0 && slots_[at].key != key) at = (at + 1) & mask;
    const std::uint32_t before = slots_[at].position;
    slots_[at] = {.key = key, .position = position + 1};
    return before;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t position = 0;
  };
  std::vector<Slot> slots_;
};

void vote(std::span<const Token> tokens, std::size_t row, std::vector<double>& votes) {
  if (tokens.size() < row) return;
  constexpr std::uint64_t kBase = 0xd1342543de82ef95ULL;  // odd, from L'Ecuyer's table of multipliers
  std::uint64_t top = 1;
  for (std::size_t i = 0; i < row; ++i) top *= kBase;
  LatestPositions latest(tokens.size());
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    hash = hash * kBase + tokens[i] + 1;
    if (i >= row) hash -= top * (tokens[i - row] + std::uint64_t{1});
    if (i + 1 < row) continue;
    const std::uint64_t key = hash * 0x9e3779b97f4a7c15ULL;
    if (const std::uint32_t before = latest.exchange(key, static_cast<std::uint32_t>(i)); before != 0) {
      const std::size_t distance = i + 1 - before;
      if (distance < votes.size()) votes[distance] += 1;
    }
  }
}

// Sums over distances that loss may have made of one.
std::vector<double> blurred(const std::vector<double>& votes) {
  std::vector<double> sums(votes.size() + 1, 0);
  for (std::size_t d = 0; d < votes.size(); ++d) sums[d + 1] = sums[d] + votes[d];
  std::vector<double> out(votes.size(), 0);
  for (std::size_t d = 1; d < votes.size(); ++d) {
    const std::size_t reach = d / kBlurFrom;
    out[d] = sums[std::min(votes.size(), d + reach + 1)] - sums[d - reach];
  }
  return out;
}

// Of distances that blur into one, the one that most launches have.
void take_best(const std::vector<double>& score, const std::vector<double>& votes, std::size_t count,
               std::vector<std::size_t>& taken) {
  std::vector<std::size_t> order;
  for (std::size_t d = 1; d < score.size(); ++d)
    if (score[d] > 0) order.push_back(d);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return score[a] != score[b] ? score[a] > score[b] : a < b;
  });
  std::size_t added = 0;
  for (const std::size_t d : order) {
    if (added == count) break;
    const bool known = std::ranges::any_of(taken, [&](std::size_t other) {
      const std::size_t apart = d > other ? d - other : other - d;
      return apart <= 2 * (d / kBlurFrom);
    });
    if (known) continue;
    const std::size_t reach = d / kBlurFrom;
    const auto from = votes.begin() + static_cast<std::ptrdiff_t>(d - reach);
    const auto to = votes.begin() + static_cast<std::ptrdiff_t>(std::min(votes.size(), d + reach + 1));
    taken.push_back(static_cast<std::size_t>(std::max_element(from, to) - votes.begin()));
    ++added;
  }
}

}  // namespace

std::vector<std::size_t> candidate_periods(std::span<const Token> tokens) {
  std::vector<std::size_t> taken;
  std::vector<double> votes;
  for (const std::size_t row : kRows) {
    votes.assign(tokens.size() / 3 + 1, 0);
    vote(tokens, row, votes);
    const std::vector<double> by_votes = blurred(votes);
    std::vector<double> regular = by_votes;
    // Launches once an iteration vote (n / d) times each: votes x d counts them.
    for (std::size_t d = 0; d < regular.size(); ++d) regular[d] *= static_cast<double>(d);
    take_best(by_votes, votes, kByVotes / kRows.size() + 1, taken);
    take_best(regular, votes, kByRegular / kRows.size() + 1, taken);
  }
  std::ranges::sort(taken);
  return taken;
}

}  // namespace rubato::progress::kernels
