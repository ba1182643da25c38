#include "govern/power_budget/job_boards.h"

#include <algorithm>

namespace rubato::govern {
namespace {

// Ranks of a job make their contexts one after the other; who has none by then does not belong to it.
constexpr Seconds kGathering{10};
constexpr std::int64_t kIterationsGathered = 3;
// Limits nearer than this are the same: drivers round.
constexpr Watts kSameLimit{0.5};

}  // namespace

bool JobBoards::gathered(const Observation& o) {
  const auto here =
      std::count_if(o.boards.begin(), o.boards.end(), [](const Board& b) { return b.counts && b.steered; });
  if (here == 0) return false;
  if (!first_seen_) first_seen_ = o.now;
  return here == std::ssize(o.boards) || o.iterations >= kIterationsGathered ||
         o.now - *first_seen_ >= kGathering;
}

bool JobBoards::regrouped(const Observation& o) {
  std::vector<std::size_t> members;
  Watts others;
  for (std::size_t i = 0; i < o.boards.size(); ++i) {
    if (!o.boards[i].counts) continue;
    if (o.boards[i].steered)
      members.push_back(i);
    else
      others += o.boards[i].limit;
  }
  if (members == members_ && abs(others - others_) <= kSameLimit) return false;
  members_ = std::move(members);
  others_ = others;
  return true;
}

std::vector<plan::BoardRange> JobBoards::ranges(const Observation& o) const {
  std::vector<plan::BoardRange> out;
  for (const std::size_t i : members_) {
    const Board& board = o.boards[i];
    const Watts least = std::max(board.least, i < floors_.size() ? floors_[i] : Watts{});
    out.push_back({std::min(least, board.found), board.found});
  }
  return out;
}

std::vector<Watts> JobBoards::limits(const Observation& o) const {
  std::vector<Watts> out;
  for (const std::size_t i : members_) out.push_back(o.boards[i].limit);
  return out;
}

std::vector<Watts> JobBoards::found(const Observation& o) const {
  std::vector<Watts> out;
  for (const std::size_t i : members_) out.push_back(o.boards[i].found);
  return out;
}

bool JobBoards::in_force(const Observation& o, const std::vector<Watts>& shares) const {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (abs(o.boards[members_[i]].limit - shares[i]) > kSameLimit) return false;
  return !given_back(o);
}

bool JobBoards::given_back(const Observation& o) {
  return std::any_of(o.boards.begin(), o.boards.end(), [](const Board& b) { return b.give_back; });
}

bool JobBoards::learn_floors(const Observation& o, const std::vector<Watts>& shares) {
  bool news = false;
  floors_.resize(o.boards.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Watts granted = o.boards[members_[i]].limit;
    Watts& floor = floors_[members_[i]];
    if (granted <= shares[i] + kSameLimit || granted <= floor) continue;
    floor = granted;
    news = true;
  }
  return news;
}

}  // namespace rubato::govern
