#include "govern/power_budget/power_budget_strategy.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/text.h"

namespace rubato::govern {
namespace {

// A limiter follows within about a second, and what was launched before a change runs after it.
constexpr StretchNeeds kDrain{1.5_s, 5, 2};
constexpr Seconds kLongestDrain{10};
constexpr Seconds kLongestWarmup{60};
// A board that warms up draws more for the same clock: what a watt buys is learned when that is over.
constexpr Seconds kLongestWarmth{240};
// As the governor's tries (govern/rubato/pace.h), but longer: boards are read once a second.
constexpr StretchNeeds kEven{10_s, 50, 24};
constexpr StretchNeeds kTrial{10_s, 50, 16};
constexpr StretchNeeds kChunk{10_s, 50, 32};
constexpr Seconds kPatience{30};
constexpr Seconds kAskAgain{5};
constexpr int kMostAsks = 3;  // a driver that grants another limit than was asked for does so again

constexpr Seconds kFirstCheck{300};
constexpr Seconds kLongestCheck{7200};

constexpr double kErrors = 2;
constexpr double kLeastGain = 0.001;

Watts sum_of(const std::vector<Watts>& shares) {
  return std::accumulate(shares.begin(), shares.end(), Watts{});
}

std::string in_words(const std::vector<Watts>& shares) {
  std::string out;
  for (const Watts share : shares) out += cat(out.empty() ? "" : ", ", number(share.value(), 1));
  return shares.size() == 1 ? out + " W" : cat(out, " W, together ", sum_of(shares));
}

}  // namespace

Decision PowerBudgetStrategy::wait(BlockRole role, std::string why, std::optional<TimePoint> again) {
  return {Action::wait, {}, role, std::move(why), again, {}};
}

Decision PowerBudgetStrategy::next(const Observation& o) {
  if (stage_ == Stage::gathering) return gathering(o);
  if (boards_.regrouped(o)) return begin_evenly(o);
  switch (stage_) {
    case Stage::gathering:
    case Stage::inside:
      return wait(BlockRole::baseline, why_);
    case Stage::going:
      return going(o);
    case Stage::settling:
      return settling(o);
    case Stage::measuring:
      return measuring(o);
    case Stage::holding:
      break;
  }
  return hold(o);
}

Decision PowerBudgetStrategy::gathering(const Observation& o) {
  if (!boards_.gathered(o)) return wait(BlockRole::warmup, "the job has not put its GPUs to work yet");
  if (!o.may_set) return wait(BlockRole::warmup, "rubato may not set anything here now");
  static_cast<void>(boards_.regrouped(o));
  return begin_evenly(o);
}

Decision PowerBudgetStrategy::begin_evenly(const Observation& o) {
  base_.clear();
  tried_.reset();
  search_.reset();
  forget_gains();
  changed_ = false;
  begun_ = o.now;
  warmth_.clear();
  steadiness_.restart();
  if (boards_.members().empty()) {
    stage_ = Stage::inside;
    why_ = "no GPU of the job may be set now";
    if (!JobBoards::given_back(o)) return wait(BlockRole::baseline, why_);
    return {Action::use_limits, {}, BlockRole::warmup, why_, {}, {}};
  }
  const auto found = boards_.found(o);
  const Watts rest = budget_ - boards_.others();
  if (sum_of(found) <= rest && boards_.in_force(o, found)) {
    stage_ = Stage::inside;
    why_ = cat("the limits found, ", in_words(found), ", are inside the budget of ", budget_,
               ": nothing has to be lowered");
    return wait(BlockRole::baseline, why_);
  }
  auto ranges = boards_.ranges(o);
  auto shares = plan::even_shares(ranges, rest);
  best_ = shares;
  const Watts least = plan::sum_of_least(ranges);
  search_.emplace(std::move(ranges), rest);
  std::string why = cat("even shares of ", budget_);
  if (boards_.others() > Watts(0))
    why += cat(", of which ", boards_.others(), " are of GPUs that cannot be set");
  if (least > rest) why += "; even the least limits are above it, so the budget cannot be held";
  return go(o, std::move(shares), Purpose::even, why);
}

Decision PowerBudgetStrategy::go(const Observation& o, std::vector<Watts> shares, Purpose purpose,
                                 const std::string& why) {
  shares_ = std::move(shares);
  purpose_ = purpose;
  why_ = cat(in_words(shares_), ": ", why);
  stage_ = Stage::going;
  asked_ = o.now - kAskAgain;
  asks_ = 0;
  return going(o);
}

bool PowerBudgetStrategy::take_what_was_granted(const Observation& o) {
  auto granted = boards_.limits(o);
  if (sum_of(granted) + boards_.others() <= budget_) {
    shares_ = std::move(granted);
    return true;
  }
  // What a board cannot be lowered to is taken from the others.
  return !boards_.learn_floors(o, shares_);
}

Decision PowerBudgetStrategy::going(const Observation& o) {
  if (!boards_.in_force(o, shares_) && asks_ >= kMostAsks && !take_what_was_granted(o))
    return begin_evenly(o);
  if (boards_.in_force(o, shares_)) {
    stage_ = Stage::settling;
    stretch_.begin(o);
    return settling(o);
  }
  if (!o.may_set) return wait(BlockRole::warmup, why_ + "; rubato may not set anything here now");
  if (o.now - asked_ < kAskAgain)
    return wait(BlockRole::warmup, "the change is on its way", asked_ + kAskAgain);
  asked_ = o.now;
  ++asks_;
  Decision out{Action::use_limits, {}, BlockRole::warmup, why_, {}, {}};
  out.limits.resize(o.boards.size());
  for (std::size_t i = 0; i < boards_.members().size(); ++i) out.limits[boards_.members()[i]] = shares_[i];
  return out;
}

Decision PowerBudgetStrategy::settling(const Observation& o) {
  if (!boards_.in_force(o, shares_)) return go(o, shares_, purpose_, "the limits are no longer in force");
  if (purpose_ == Purpose::even) steadiness_.look(o);
  const bool drained = stretch_.enough(o, kDrain, o.iterations == 0 ? kDrain.time : kLongestDrain);
  const bool warm = purpose_ != Purpose::even || o.iterations == 0 || (!o.tuning && steadiness_.steady()) ||
                    o.now - begun_ >= kLongestWarmup;
  if (!drained || !warm)
    return wait(BlockRole::warmup, "what was launched before the change drains",
                stretch_.earliest_end(o, kDrain));
  stage_ = purpose_ == Purpose::hold ? Stage::holding : Stage::measuring;
  begin_stretch(o);
  return stage_ == Stage::holding ? hold(o) : measuring(o);
}

void PowerBudgetStrategy::forget_gains() {
  divisions_kept_ = 0;
  time_left_ = 1;
  square_of_error_ = 0;
}

void PowerBudgetStrategy::begin_stretch(const Observation& o) {
  stretch_.begin(o);
  meters_.assign(boards_.members().size(), BoardMeter{});
  for (std::size_t i = 0; i < boards_.members().size(); ++i) meters_[i].begin(o.boards[boards_.members()[i]]);
}

bool PowerBudgetStrategy::warm(const Observation& o) {
  warmth_.resize(boards_.members().size());
  bool all = true;
  for (std::size_t i = 0; i < boards_.members().size(); ++i) {
    Observation one;
    one.now = o.now;
    one.state = o.boards[boards_.members()[i]].state;
    all = warmth_[i].steady(one) && all;
  }
  return all || o.now - begun_ >= kLongestWarmth;
}

void PowerBudgetStrategy::look(const Observation& o) {
  for (std::size_t i = 0; i < boards_.members().size(); ++i) meters_[i].look(o.boards[boards_.members()[i]]);
}

std::vector<BoardMean> PowerBudgetStrategy::means() const {
  std::vector<BoardMean> out;
  for (const BoardMeter& meter : meters_) out.push_back(meter.mean());
  return out;
}

BlockRole PowerBudgetStrategy::role() const {
  return purpose_ == Purpose::trial ? BlockRole::trial : BlockRole::hold;
}

Decision PowerBudgetStrategy::measuring(const Observation& o) {
  if (!boards_.in_force(o, shares_)) return go(o, shares_, purpose_, "the limits are no longer in force");
  if (o.tuning || o.shift) begin_stretch(o);
  look(o);
  if (purpose_ == Purpose::even && !warm(o)) begin_stretch(o);
  const StretchNeeds& needs = purpose_ == Purpose::even ? kEven : kTrial;
  if (stretch_.enough(o, needs, kPatience)) return measured(o);
  return wait(role(), why_, stretch_.earliest_end(o, needs));
}

Decision PowerBudgetStrategy::measured(const Observation& o) {
  auto now = means();
  search_->measured(now);
  if (purpose_ == Purpose::trial) return tried(o, std::move(now));
  const bool told = std::any_of(now.begin(), now.end(), [](const BoardMean& m) { return m.log_time; });
  before_ = std::exchange(base_, std::move(now));
  if (tried_) {
    if (gain_of(*tried_)) return go(o, tried_->shares, Purpose::trial, "it took less time: once more");
    search_->judged(false);
    tried_.reset();
  } else {
    best_ = shares_;
    check_after_ = purpose_ == Purpose::even ? kFirstCheck : check_after_;
  }
  if (told) return propose(o);
  why_ =
      cat(in_words(best_), ": no iteration is seen of every board, so nothing tells where a watt buys time");
  stage_ = Stage::holding;
  purpose_ = Purpose::hold;
  check_due_ = o.now + check_after_;
  return hold(o);
}

// A board that warms up, or a job that slowly changes, moves what comes later away from what came before:
// between the mean of the outer two of three stretches and the middle one, an even drift cancels.
std::optional<ShareGain> PowerBudgetStrategy::gain_of(const Tried& tried) const {
  const bool once = tried.again.empty();  // of before, tried and base; then of tried, base and tried again
  const auto first = search_->gain(once ? before_ : base_, tried.means);
  const auto second = search_->gain(base_, once ? tried.means : tried.again);
  if (!first || !second) return std::nullopt;
  // The stretch in the middle is in both differences.
  const ShareGain gain{(first->value + second->value) / 2, std::max(first->error, second->error)};
  if (gain.value <= std::max(kLeastGain, kErrors * gain.error)) return std::nullopt;
  return gain;
}

// A clock that goes in steps may stand a step higher or lower for half a minute, whatever the limits: a
// division is better where it was so twice, with the one before in between.
Decision PowerBudgetStrategy::tried(const Observation& o, std::vector<BoardMean> now) {
  if (!tried_) {
    tried_ = Tried{shares_, std::move(now), {}};
    return go(o, best_, Purpose::base, "back, to see what the division before takes now");
  }
  tried_->again = std::move(now);
  const auto gain = gain_of(*tried_);
  search_->judged(gain.has_value());
  if (gain) {
    ++divisions_kept_;
    time_left_ *= 1 - gain->value;
    square_of_error_ += gain->error * gain->error;
    best_ = tried_->shares;
    base_ = std::move(tried_->again);
  }
  tried_.reset();
  return propose(o);
}

Decision PowerBudgetStrategy::propose(const Observation& o) {
  if (auto proposal = search_->next(base_))
    return go(o, std::move(proposal->shares), Purpose::trial, proposal->why);
  check_due_ = o.now + check_after_;
  check_after_ = std::min(kLongestCheck, check_after_ * 2);
  return go(o, best_, Purpose::hold, outcome());
}

std::string PowerBudgetStrategy::outcome() const {
  if (divisions_kept_ == 0)
    return changed_ ? "held; no division was measured to be better since the job changed"
                    : "held: no division was measured to be better than even shares";
  return cat("held: ", search_->in_step() ? "an iteration takes " : "iterations take ",
             number(100 * (1 - time_left_), 1), " % ± ",
             number(100 * kErrors * std::sqrt(square_of_error_), 1), " % less time than ",
             changed_ ? "when the job changed" : "at even shares");
}

Decision PowerBudgetStrategy::hold(const Observation& o) {
  if (!boards_.in_force(o, shares_))
    return go(o, shares_, Purpose::hold, "the limits are no longer in force");
  look(o);
  if (o.shift) {
    // What was measured is of another job.
    forget_gains();
    changed_ = true;
    search_->again();
    check_after_ = kFirstCheck;
    return go(o, best_, Purpose::base, cat("the job changed: ", *o.shift));
  }
  if (stretch_.enough(o, kChunk, kPatience)) {
    const auto now = means();
    if (std::any_of(now.begin(), now.end(), [](const BoardMean& m) { return m.log_time; })) {
      search_->measured(now);
      base_ = now;
    }
    begin_stretch(o);
    if (o.may_set && o.now >= check_due_) {
      search_->again();
      return propose(o);
    }
  }
  return wait(BlockRole::hold, why_);
}

}  // namespace rubato::govern
