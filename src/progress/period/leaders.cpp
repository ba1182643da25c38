#include "progress/period/leaders.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "progress/period/leader_traits.h"
#include "progress/period/own_level.h"

namespace rubato::progress {

namespace {

constexpr std::size_t kMostLeaders = 4;
constexpr double kLeastChance = 0.02;  // of those after the first
constexpr double kLeastMultiple = 0.001;
constexpr double kSame = 0.02;
constexpr double kSameLength = 0.04;
constexpr std::size_t kWellFollowed = 6;
constexpr double kOnGrid = 0.25;  // updates
constexpr double kOffGrid = 0.15;
constexpr double kMostParts = 5;
// In an iteration: where there are more, what an update sees moves too little with its place on the grid to
// make two cycles differ. Of 1,900 development traces (`rubato-period-truth --first-seed 40000
// --traces 1900 --development`) three more are exact, and none less.
constexpr double kMostAliased = 40;
constexpr double kSamePart = 0.015;
// Logarithm of energies (overtones.h). Of 1,650 leaders of development traces of which this holds, 32 are the
// iteration.
constexpr double kFoldedFromAbove = -3.5;

/// Which candidates are followed: by their chances, but none twice under two names.
class Choice {
 public:
  Choice(const std::vector<Judged>& candidates, const std::vector<double>& chances,
         const std::vector<double>& recalled_s)
      : candidates_(candidates), chances_(chances), recalled_s_(recalled_s), order_(candidates.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return chances[a] > chances[b]; });
  }

  /// Absent: no more. What was followed counts by the length it came to as well.
  [[nodiscard]] std::optional<std::size_t> next(const std::vector<Leader>& known) {
    for (; at_ < order_.size() && known.size() < kMostLeaders; ++at_) {
      const std::size_t i = order_[at_];
      if (!known.empty() && chances_[i] < kLeastChance) break;
      if (is_new(i, known)) return i;
    }
    if (known.empty()) return std::nullopt;
    if (!std::exchange(asked_, true))
      if (const auto multiple = multiple_of(known)) return multiple;
    while (recalled_ < recalled_s_.size())
      if (const auto i = nearest_to(recalled_s_[recalled_++]); i && is_new(*i, known)) return i;
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool is_new(std::size_t i, const std::vector<Leader>& known) const {
    const double period_s = candidates_[i].candidate.period_s;
    return std::none_of(known.begin(), known.end(), [&](const Leader& leader) {
      if (std::abs(leader.period_s / period_s - 1) < kSame) return true;
      return leader.followed.cycles.size() >= kWellFollowed &&
             std::abs(leader.length_s / period_s - 1) < kSameLength;
    });
  }

  /// The likeliest that is the first some times: what the parts of an iteration hide.
  [[nodiscard]] std::optional<std::size_t> multiple_of(const std::vector<Leader>& known) const {
    for (const std::size_t i : order_) {
      if (chances_[i] < kLeastMultiple) break;
      const double period_s = candidates_[i].candidate.period_s;
      if ((is_multiple(period_s / known.front().period_s) ||
           is_multiple(period_s / known.front().length_s)) &&
          is_new(i, known))
        return i;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::size_t> nearest_to(double length_s) const {
    std::optional<std::size_t> out;
    double least = kSameLength;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const double off = std::abs(candidates_[i].candidate.period_s / length_s - 1);
      if (off < least) out = i, least = off;
    }
    return out;
  }

  const std::vector<Judged>& candidates_;
  const std::vector<double>& chances_;
  const std::vector<double>& recalled_s_;
  std::vector<std::size_t> order_;
  std::size_t at_ = 0;
  std::size_t recalled_ = 0;
  bool asked_ = false;
};

}  // namespace

bool repeats_by_sampling(const Leader& leader, const std::vector<Leader>& leaders, double update_s) {
  const auto off_grid = [&](double length_s) {
    const double cycle = length_s / update_s;
    return std::abs(cycle - std::round(cycle));
  };
  const Overtones& o = leader.overtones;
  if (o.no_half == kUnknownOvertones || off_grid(leader.length_s) > kOnGrid) return false;
  if (leader.length_s > kMostAliased * update_s) return false;
  return std::any_of(leaders.begin(), leaders.end(), [&](const Leader& part) {
    const double times = std::round(leader.length_s / part.length_s);
    if (times < 2 || times > kMostParts || off_grid(part.length_s) < kOffGrid) return false;
    if (std::abs(leader.length_s / part.length_s / times - 1) > kSamePart) return false;
    const double between = times == 2 ? o.no_half : times == 3 ? o.no_third : std::max(o.no_half, o.no_third);
    return between < kFoldedFromAbove;
  });
}

std::vector<Leader> leaders_of(const Samples& samples, const std::vector<Judged>& candidates,
                               const std::vector<Traits>& traits, const std::vector<double>& chances,
                               const std::optional<FoldedUpdates>& updates, const Span& span,
                               const std::vector<double>& recalled_s) {
  std::vector<Leader> out;
  Choice choice(candidates, chances, recalled_s);
  while (const auto found = choice.next(out)) {
    const std::size_t i = *found;
    const Judged& judged = candidates[i];
    Leader leader;
    leader.index = i;
    leader.period_s = leader.length_s = judged.candidate.period_s;
    leader.level = own_level(samples, judged, span);
    leader.followed = follow(leader.level, judged.candidate.period_s, span.update_s);
    std::copy(traits[i].begin(), traits[i].end(), leader.traits.begin());
    describe(judged, updates, span, leader);
    out.push_back(std::move(leader));
  }
  compare(candidates, chances, span, out);
  return out;
}

}  // namespace rubato::progress
