#include "govern/layer_plan/plan_strategy.h"

#include <algorithm>

#include "base/text.h"

namespace rubato::govern {
namespace {

// What was launched before a change drains; sensors that average over a second forget what was before.
constexpr Seconds kDrain{1.5};
constexpr double kDrainIterations = 2;
// 50 sensor updates bring the error at a block's edges to 2 % (docs: energy windows).
constexpr double kSensorUpdates = 50;
constexpr Seconds kShortestBlock{3};
constexpr double kFewestIterations = 8;
// A plan that can be run only now and then is not judged by moments.
constexpr Seconds kReadyFor{2};

}  // namespace

Setting setting_of(const predict::Clocks& clocks, bool memory_clock) {
  Setting out;
  out.sm_clock = ClockRange{clocks.sm, clocks.sm};
  if (memory_clock) out.memory_clock = ClockRange{clocks.memory, clocks.memory};
  return out;
}

Setting range_of(const plan::LayerPlan& plan) {
  Setting out = setting_of(plan.phases.front().clocks, plan.memory_clock);
  for (const auto& phase : plan.phases) {
    out.sm_clock->min = std::min(out.sm_clock->min, phase.clocks.sm);
    out.sm_clock->max = std::max(out.sm_clock->max, phase.clocks.sm);
    if (!out.memory_clock) continue;
    out.memory_clock->min = std::min(out.memory_clock->min, phase.clocks.memory);
    out.memory_clock->max = std::max(out.memory_clock->max, phase.clocks.memory);
  }
  return out;
}

PlanStrategy::PlanStrategy(PlanOptions options, Random random)
    : options_(std::move(options)),
      single_(setting_of(options_.plan.single, options_.plan.memory_clock)),
      range_(range_of(options_.plan)),
      fixed_({single_, options_.found_clock_stated}, random.fork(1)),
      random_(random.fork(2)),
      payoff_(options_.rules) {}

Decision PlanStrategy::next(const Observation& o) {
  Decision decision = decide(o);
  watch_single(o, decision);
  // While the two are compared, or the plan was found to pay, the plan's own bound is what counts.
  if (kept_ == Keep::found || kept_ == Keep::plan || block_) return decision;
  if (auto why = payoff_.why_not_single()) {
    kept_ = Keep::found;
    why_ = std::move(*why);
    stage_ = Stage::settled;
    drop_pair();
    return at(Keep::found, BlockRole::baseline, o, why_);
  }
  return decision;
}

Decision PlanStrategy::decide(const Observation& o) {
  // Warm-up, baseline, the way to the single setting and control blocks are those of any fixed setting.
  const Decision inner = fixed_.next(o);
  watch_found(o, inner);
  if (kept_ == Keep::found) return at(Keep::found, BlockRole::baseline, o, why_);
  // Its single setting was chosen for the work that it was made for, and so was its bound.
  baseline_over_ = baseline_over_ || inner.action == Action::use_setting;
  if (o.plan && o.plan->another_job && baseline_over_) {
    drop_pair();
    ready_since_.reset();
    Decision stays =
        at(Keep::found, BlockRole::baseline, o, cat("the found setting is kept: ", o.plan->why_not));
    // Asked for where it is in force too: it is a decision, and the baseline that goes on is none.
    if (o.in_force.empty()) stays.action = Action::use_found;
    return stays;
  }
  // A plan that pays may be inside the bound where its single setting is not.
  if (kept_ == Keep::plan && !(o.plan && o.plan->ready))
    if (const auto why = payoff_.why_not_single()) {
      ready_since_.reset();
      return at(Keep::found, BlockRole::baseline, o, *why);
    }
  if (inner.role != BlockRole::hold || inner.action != Action::wait) {
    drop_pair();
    return inner;
  }
  if (!options_.never.empty())
    return at(Keep::single, BlockRole::hold, o, cat("holding the single setting: ", options_.never));
  // A block at the single setting needs no device time.
  const bool beside = block_ && block_->arm == Keep::single && in_force(Keep::single, o);
  if ((!o.plan || !o.plan->ready) && !beside) {
    drop_pair();
    ready_since_.reset();
    return at(Keep::single, BlockRole::hold, o,
              kept_ == Keep::single ? why_
                                    : cat("holding the single setting, the plan cannot be run: ",
                                          o.plan ? o.plan->why_not : "nothing tells of the GPU's own time"));
  }
  if (!ready_since_) ready_since_ = o.now;
  if (o.now - *ready_since_ < kReadyFor)
    return at(Keep::single, BlockRole::hold, o, "holding the single setting until the plan runs");
  return stage_ == Stage::comparing ? compare(o) : settled(o);
}

bool PlanStrategy::in_force(Keep where, const Observation& o) const {
  if (where == Keep::found) return o.in_force.empty();
  return o.in_force == (where == Keep::plan ? range_ : single_);
}

Decision PlanStrategy::at(Keep where, BlockRole role, const Observation& o, const std::string& why) const {
  if (in_force(where, o)) return {Action::wait, {}, role, why, std::nullopt};
  if (!o.may_set)
    return {Action::wait, {}, role, why + "; rubato may not set anything here now", std::nullopt};
  if (where == Keep::found) return {Action::use_found, {}, BlockRole::warmup, why, std::nullopt};
  if (where == Keep::plan) return {Action::use_plan, range_, BlockRole::warmup, why, std::nullopt};
  return {Action::use_setting, single_, BlockRole::warmup, why, std::nullopt};
}

void PlanStrategy::watch_found(const Observation& o, const Decision& inner) {
  const bool there = o.in_force.empty() && inner.action == Action::wait &&
                     (inner.role == BlockRole::baseline || inner.role == BlockRole::control);
  if (there) {
    if (!found_block_) found_block_ = Block{Keep::found, o.now, std::nullopt, std::nullopt};
    static_cast<void>(follow(*found_block_, o));
  } else if (found_block_) {
    const Block& b = *found_block_;
    if (b.first && b.last && b.last->work > b.first->work) payoff_.found(cost_between(*b.first, *b.last));
    found_block_.reset();
  }
}

void PlanStrategy::watch_single(const Observation& o, const Decision& decision) {
  // Blocks of a comparison are taken as they end.
  const bool there = !block_ && in_force(Keep::single, o) && decision.action == Action::wait;
  if (!there) {
    held_block_.reset();
    return;
  }
  if (!held_block_) held_block_ = block_of(Keep::single, o);
  if (!follow(*held_block_, o)) return;
  payoff_.held(cost_between(*held_block_->first, *held_block_->last));
  // The next one goes on from here: what was launched before it was launched at the same clocks.
  held_block_ = Block{Keep::single, held_block_->last->at, held_block_->last, std::nullopt};
}

PlanStrategy::Block PlanStrategy::block_of(Keep arm, const Observation& o) {
  Seconds drain = kDrain;
  if (o.tally && o.tally->work > 0)
    drain = std::max(drain, kDrainIterations * ((o.tally->at - o.run_begin) / o.tally->work));
  return Block{arm, o.now + drain, std::nullopt, std::nullopt};
}

bool PlanStrategy::follow(Block& block, const Observation& o) {
  if (!o.tally || o.tally->at < block.from) return false;
  if (!block.first) block.first = o.tally;
  block.last = o.tally;
  const Seconds length = block.last->at - block.first->at;
  return length >= std::max(kShortestBlock, kSensorUpdates * o.sensor_period) &&
         block.last->work - block.first->work >= kFewestIterations;
}

Keep PlanStrategy::next_arm() {
  if (single_cost_) return Keep::plan;
  if (plan_cost_) return Keep::single;
  return random_.uniform() < 0.5 ? Keep::single : Keep::plan;
}

void PlanStrategy::take_block() {
  const Cost cost = cost_between(*block_->first, *block_->last);
  (block_->arm == Keep::plan ? plan_cost_ : single_cost_) = cost;
  if (block_->arm == Keep::single) payoff_.held(cost);
  block_.reset();
  if (!single_cost_ || !plan_cost_) return;
  payoff_.pair(*single_cost_, *plan_cost_);
  single_cost_.reset();
  plan_cost_.reset();
}

void PlanStrategy::drop_pair() {
  block_.reset();
  single_cost_.reset();
  plan_cost_.reset();
}

Decision PlanStrategy::compare(const Observation& o) {
  if (!block_) block_ = block_of(next_arm(), o);
  const Keep arm = block_->arm;
  if (arm == Keep::plan && !(o.plan && o.plan->ready))
    return at(Keep::single, BlockRole::hold, o, "holding the single setting until the plan runs");
  if (!in_force(arm, o)) {
    block_ = block_of(arm, o);
    return at(arm, BlockRole::trial, o,
              arm == Keep::plan ? "the plan is tried against the single setting"
                                : "the single setting is measured beside the plan");
  }
  if (!follow(*block_, o)) {
    const bool drains = o.now < block_->from;
    return {Action::wait,
            {},
            drains ? BlockRole::warmup : BlockRole::trial,
            cat("comparing plan and single setting, ", payoff_.pairs(), " pairs so far"),
            std::nullopt};
  }
  take_block();
  if (const auto verdict = payoff_.verdict()) {
    kept_ = verdict->keep;
    why_ = verdict->why;
    stage_ = Stage::settled;
    return settled(o);
  }
  return compare(o);
}

Decision PlanStrategy::settled(const Observation& o) {
  if (o.shift && kept_ == Keep::plan) {
    payoff_.forget();
    kept_.reset();
    stage_ = Stage::comparing;
    drop_pair();
    return at(Keep::single, BlockRole::hold, o, cat("the job has changed (", *o.shift, "): compared again"));
  }
  return at(*kept_, kept_ == Keep::found ? BlockRole::baseline : BlockRole::hold, o, why_);
}

}  // namespace rubato::govern
