#include "govern/reference/search_strategy.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "plan/setting_of.h"

namespace rubato::govern {
namespace {

// As in FixedStrategy: caches, autotuning and clocks first; what was launched before a change runs after it.
constexpr StretchNeeds kWarmup{2_s, 10, 8};
constexpr Seconds kLongestWarmup{60};
constexpr StretchNeeds kDrain{Seconds(0.5), 5, 2};
constexpr Seconds kPatience{30};
constexpr Seconds kLoadGone{3};
constexpr Seconds kAskAgain{5};
constexpr int kAsksBeforeRefusal = 6;
// Where nothing tells of iterations, a length in work says nothing.
constexpr Seconds kByTime{10};
// Long enough to tell what a setting costs that was chosen without being measured.
constexpr Seconds kFirstHold{10};
// Below 50 updates a window cannot be told from its edges (docs: energy windows).
constexpr double kUpdates = 50;

bool replayed(const Observation& o) {
  return o.sensor_period.value() <= 0;
}

Decision wait(BlockRole role, std::string why, std::optional<TimePoint> ask_again = std::nullopt) {
  return {Action::wait, {}, role, std::move(why), ask_again};
}

bool long_enough(const Tally& from, const Observation& o, const TrialLength& length) {
  const Seconds shortest = std::max(length.time, o.sensor_period * kUpdates);
  const Seconds time = o.tally->at - from.at;
  const double work = o.tally->work - from.work;
  if (work <= 0) return false;
  if (o.iterations == 0) return time >= std::max(shortest, kByTime);
  return time >= shortest && work >= length.work;
}

}  // namespace

SearchStrategy::SearchStrategy(std::string name, std::unique_ptr<Search> search, SearchRun run)
    : name_(std::move(name)), search_(std::move(search)), run_(std::move(run)) {
  if (run_.spends_budget) spender_.emplace(run_.goal, run_.space, Random(run_.seed));
}

BlockRole SearchStrategy::role() const {
  switch (purpose_) {
    case Purpose::baseline:
      return BlockRole::baseline;
    case Purpose::trial:
      return BlockRole::trial;
    case Purpose::control:
      return BlockRole::control;
    case Purpose::hold:
      break;
  }
  return BlockRole::hold;
}

bool SearchStrategy::sets_clocks() const {
  return target_.sm_clock || target_.memory_clock;
}

Decision SearchStrategy::next(const Observation& o) {
  if (o.under_load) {
    idle_since_.reset();
  } else if (!idle_since_) {
    idle_since_ = o.now;
  }
  if (!run_.found_clock_stated && seen_.empty()) lock_.look(o);
  // What compiling and warming up took was not lost to a setting.
  if (spender_ && stage_ != Stage::no_load && stage_ != Stage::warming) follow(o);
  const bool load_gone = idle_since_ && o.now - *idle_since_ >= kLoadGone;
  switch (stage_) {
    case Stage::no_load:
      return no_load(o);
    case Stage::warming:
      if (!load_gone) return warming(o);
      stage_ = Stage::no_load;
      return no_load(o);
    case Stage::going:
      return going(o);
    case Stage::settling:
    case Stage::measuring:
      if (load_gone) return arrive(o, true);  // what was measured so far held a pause: from the start again
      return stage_ == Stage::settling ? settling(o) : measuring(o);
    case Stage::refused:
      break;
  }
  if (!o.in_force.empty()) return {Action::use_found, {}, BlockRole::baseline, why_, std::nullopt};
  return wait(BlockRole::baseline, why_);
}

// Where the run spends its time, measured or not.
void SearchStrategy::follow(const Observation& o) {
  if (!o.tally) return;
  if (followed_ && o.tally->work <= followed_->work) return;
  if (followed_)
    spender_->ran(o.in_force.empty() ? 0 : place_,
                  o.tally->at - followed_->at - (o.tally->outside - followed_->outside),
                  o.tally->work - followed_->work);
  followed_ = o.tally;
}

Decision SearchStrategy::no_load(const Observation& o) {
  if (!o.under_load) return wait(BlockRole::warmup, "the job has not put this GPU to work yet");
  if (replayed(o)) return begin_search(o, "a replayed job needs no warm-up");
  stage_ = Stage::warming;
  stretch_.begin(o);
  steadiness_.restart();
  why_ = "the job warms up; nothing is judged before load and iterations are steady";
  return warming(o);
}

Decision SearchStrategy::warming(const Observation& o) {
  steadiness_.look(o);
  const bool by_time = stretch_.iterations(o) == 0;
  const bool warm = !o.tuning && stretch_.enough(o, kWarmup, kPatience) && (by_time || steadiness_.steady());
  if (warm || stretch_.length(o) >= kLongestWarmup) return begin_search(o, "the job runs steadily");
  return wait(BlockRole::warmup, why_, stretch_.earliest_end(o, kWarmup));
}

Decision SearchStrategy::begin_search(const Observation& o, std::string_view why) {
  if (spender_ && !seen_.empty()) spender_->restart();
  seen_.clear();
  first_.clear();
  place_ = 0;
  purpose_ = Purpose::baseline;
  length_ = search_->baseline();
  aim_at({});
  return go(o, cat(why, "; this is the baseline at the found setting"));
}

void SearchStrategy::aim_at(const Setting& target) {
  if (target != target_) taken_.reset();
  target_ = target;
}

Decision SearchStrategy::go(const Observation& o, std::string why) {
  why_ = std::move(why);
  if (o.in_force == target_ || (taken_ && o.in_force == *taken_)) {
    taken_ = o.in_force;
    return arrive(o, false);
  }
  stage_ = Stage::going;
  before_ = o.in_force;
  taken_.reset();
  asked_times_ = 0;
  return going(o);
}

bool SearchStrategy::arrived(const Observation& o) const {
  if (taken_) return o.in_force == *taken_;
  // What is in force may be clamped or rounded; it is ours where it changed since we asked.
  return o.in_force == target_ ||
         (asked_times_ > 0 && !target_.empty() && !o.in_force.empty() && o.in_force != before_);
}

Decision SearchStrategy::going(const Observation& o) {
  if (arrived(o)) {
    taken_ = o.in_force;
    return arrive(o, true);
  }
  const bool back = target_.empty();
  if (!o.may_set)
    return wait(o.in_force.empty() ? BlockRole::baseline : BlockRole::warmup,
                why_ + "; rubato may not set anything here now");
  if (asked_times_ > 0 && o.now - asked_ < kAskAgain)
    return wait(BlockRole::warmup, "the change is on its way", asked_ + kAskAgain);
  if (!back && asked_times_ >= kAsksBeforeRefusal)
    return refuse(o, cat("the GPU did not take ", describe(target_)));
  asked_ = o.now;
  ++asked_times_;
  if (back) return {Action::use_found, {}, BlockRole::warmup, why_, std::nullopt};
  return {Action::use_setting, target_, BlockRole::warmup, cat(why_, "; going to ", describe(target_)),
          std::nullopt};
}

Decision SearchStrategy::arrive(const Observation& o, bool drain) {
  stage_ = Stage::settling;
  drain_ = drain;
  stretch_.begin(o);
  return settling(o);
}

Decision SearchStrategy::settling(const Observation& o) {
  if (!arrived(o)) return go(o, "the setting is no longer in force");
  const bool holding = purpose_ == Purpose::hold;
  const bool drained = !drain_ || stretch_.enough(o, kDrain, o.iterations == 0 ? kDrain.time : kPatience);
  const bool settled =
      stretch_.length(o) >= length_.settle &&
      (o.iterations == 0 || static_cast<double>(stretch_.iterations(o)) >= length_.settle_work);
  if (!o.under_load || !drained || !settled || !o.tally) {
    if (holding && drained) return wait(BlockRole::hold, why_);
    return wait(BlockRole::warmup, "what was launched before drains, and the board settles");
  }
  stage_ = Stage::measuring;
  from_ = *o.tally;
  meter_.begin(*from_, spender_ ? spender_->cell() : 0);
  return wait(role(), why_);
}

Decision SearchStrategy::measuring(const Observation& o) {
  if (!arrived(o)) return go(o, "the setting was lost while it was measured; once more");
  if (spender_ && o.tally) meter_.add(*o.tally);
  if (!o.tally || !o.under_load || !long_enough(*from_, o, length_)) return wait(role(), why_);
  return measured(o, cost_between(*from_, *o.tally));
}

Decision SearchStrategy::measured(const Observation& o, const Cost& cost) {
  if (!cost.energy || cost.energy->value() <= 0)
    return refuse(o, "the energy of this GPU cannot be read here, so no setting can be judged");
  if (spender_) {
    if (const auto mean = meter_.mean()) spender_->measured(place_, *mean);
    if (first_.size() <= place_) first_.resize(place_ + 1, cost);
  }
  if (purpose_ == Purpose::hold || purpose_ == Purpose::control)
    return spender_ ? spent(o, cost) : held(o, cost);
  if (purpose_ == Purpose::baseline && o.features) search_->features(*o.features);
  const bool found = purpose_ == Purpose::baseline || step_.found;
  seen_.push_back({purpose_ == Purpose::baseline ? run_.space.found : step_.at, found, cost});
  return ask_search(o);
}

Decision SearchStrategy::held(const Observation& o, const Cost& cost) {
  if (search_->again(cost)) return begin_search(o, "the work has changed, and the search begins again");
  length_ = search_->watch();
  return arrive(o, false);
}

Decision SearchStrategy::spent(const Observation& o, const Cost& cost) {
  if (purpose_ == Purpose::hold) {
    // To its watch the search's own setting goes on: others differ from it as they did when first measured.
    const Cost& here = first_[place_];
    const Cost& its = first_[chosen_];
    const Cost alike{.work = cost.work,
                     .time = cost.time * (its.time / here.time),
                     .energy = *cost.energy * (*its.energy / *here.energy)};
    if (search_->again(alike)) return begin_search(o, "the work has changed, and the search begins again");
  }
  const BudgetSpender::Turn turn = spender_->next(chosen_, o.now, o.run_begin);
  purpose_ = turn.role == BlockRole::control ? Purpose::control : Purpose::hold;
  length_ = {.settle = {}, .time = turn.time, .work = turn.work};
  place_ = turn.setting;
  aim_at(place_ == 0 ? Setting{} : plan::setting_of(spender_->at(place_)));
  if (purpose_ == Purpose::control)
    return go(o, "a control block at the found setting shows whether the baseline still holds");
  return go(o, cat("spending the budget of seconds: ",
                   place_ == 0 ? std::string("the found setting") : describe(target_)));
}

Decision SearchStrategy::ask_search(const Observation& o) {
  step_ = search_->next(seen_);
  const bool holds = step_.kind == SearchStep::Kind::hold;
  purpose_ = holds ? Purpose::hold : Purpose::trial;
  length_ = holds ? search_->watch() : step_.length;
  if (spender_) {
    place_ = spender_->name(step_.at, step_.found);
    if (holds) {
      chosen_ = place_;
      length_ = {.settle = {}, .time = std::max(length_.time, kFirstHold), .work = length_.work};
    }
  }
  aim_at(step_.found ? Setting{} : plan::setting_of(step_.at));
  if (sets_clocks() && !run_.found_clock_stated && !replayed(o))
    if (const auto objection = lock_.objection()) return refuse(o, *objection);
  return go(o, step_.why);
}

Decision SearchStrategy::refuse(const Observation& o, std::string why) {
  stage_ = Stage::refused;
  why_ = std::move(why);
  if (!o.in_force.empty()) return {Action::use_found, {}, BlockRole::baseline, why_, std::nullopt};
  return wait(BlockRole::baseline, why_);
}

std::unique_ptr<Strategy> run_search(std::string_view name, const StrategyRequest& request, Variant variant,
                                     std::unique_ptr<Search> search) {
  std::string full(name);
  if (variant == Variant::mixing) full += "+mix";
  if (variant == Variant::published) full += "@published";
  return std::make_unique<SearchStrategy>(std::move(full), std::move(search),
                                          SearchRun{.space = request.space,
                                                    .found_clock_stated = request.found_clock_stated,
                                                    .goal = request.goal,
                                                    .spends_budget = variant == Variant::mixing,
                                                    .seed = request.seed});
}

}  // namespace rubato::govern
