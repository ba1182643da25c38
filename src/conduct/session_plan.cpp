// Switching inside the iteration: when it begins and ends, and what the record says of it. The switches
// themselves are counted, not told one by one: a run of hours makes a hundred thousand.
#include "base/text.h"
#include "conduct/session.h"
#include "govern/layer_plan/plan_strategy.h"

namespace rubato::conduct {

void Session::start_plan(const Setting& range, TimePoint now) {
  if (!parts_.plan || in_force_.empty() || stand_back_) return;
  for (auto& unit : units_) {
    if (!unit.leased || unit.in_force.empty()) continue;
    flush_change(unit);
    const bool memory = parts_.plan->plan().memory_clock;
    parts_.plan->send_by([this, gpu = unit.id(), memory](const predict::Clocks& clocks) -> Status {
      if (auto applied = parts_.lease->apply(gpu, govern::setting_of(clocks, memory)); !applied)
        return fail(applied.error());
      return {};
    });
    explain_change(unit, now);
    unit.last_write = now;
    unit.in_force = range;
    unit.last_requested = range;
    put(&record::Writer::setting_change,
        record::SettingChange{now, unit.id(), "rubato", range, range, std::nullopt, std::nullopt,
                              "switching inside the iteration begins"});
    parts_.plan->start(now);
    plan_began_ = now;
    in_force_ = range;
    return;  // a plan is for one GPU
  }
}

void Session::stop_plan(TimePoint now) {
  if (!parts_.plan || !parts_.plan->running()) return;
  parts_.plan->stop();
  plan_ran_ += now - *plan_began_;
  plan_began_.reset();
}

void Session::follow_plan(TimePoint now) {
  if (!parts_.plan || !parts_.plan->running()) return;
  if (const auto failure = parts_.plan->failure()) {
    stand_back(*failure, now);
    put_all_back(now);
    return;
  }
  // Where it cannot go on, the strategy is asked at once: the clocks in force are those of some phase.
  if (!parts_.plan->step(now)) next_decision_ = now;
}

void Session::tell_plan_at_the_end(TimePoint now) {
  if (!parts_.plan) return;
  const Seconds ran = plan_ran_ + (plan_began_ ? now - *plan_began_ : Seconds(0));
  std::string why;
  if (ran > Seconds(0)) {
    why = cat("the plan ran for ", number(ran.value(), 1), " s: ", parts_.plan->in_words());
  } else {
    const auto last = parts_.plan->now(now);
    why = cat("the plan never ran; at the end: ", last.ready ? "it could have" : last.why_not.c_str(), "; ",
              parts_.plan->recognised());
  }
  note("plan", why, now, in_force_);
}

}  // namespace rubato::conduct
