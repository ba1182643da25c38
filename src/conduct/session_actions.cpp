// The half of a session that changes things: what the strategy decides becomes requests to the guard.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "conduct/same_limit.h"
#include "conduct/session.h"
#include "govern/measure_only_strategy.h"

namespace rubato::conduct {
namespace {

// Below this share of time with a kernel on it a GPU does not count as loaded.
constexpr double kLoadedUtilisation = 0.10;

bool has_clocks(const Setting& setting) {
  return setting.sm_clock || setting.memory_clock || setting.application_clocks;
}

}  // namespace

govern::Observation Session::observe(TimePoint now) {
  govern::Observation seen;
  seen.now = now;
  seen.run_begin = begin_;
  seen.in_force = in_force_;
  seen.iterations = tracker_.completed() + watch_->given_out();
  seen.last_iteration = tracker_.last_end() ? tracker_.last_end() : watch_->last_end();
  seen.tally = tally_.tally();
  seen.features = features_;
  seen.shift = shift_;
  seen.tuning = watch_->tuning().tuning;
  seen.may_set = parts_.lease && parts_.lease->usable() && !stand_back_;
  bool some_are_ours = false;
  for (const auto& unit : units_) {
    if (unit.ownership.verdict == Ownership::Verdict::none) continue;
    const bool ours = unit.ownership.verdict == Ownership::Verdict::job;
    // Boards that divide a budget are set one by one: those that others use are left out of it.
    if (!ours && !parts_.allow_shared && !(parts_.power_budget && unit.leased)) seen.may_set = false;
    some_are_ours = some_are_ours || ours || parts_.allow_shared;
    if (!ours || seen.state) continue;
    seen.state = unit.state;
    seen.highest_sm_clock = unit.highest_sm_clock;
    seen.sensor_period = unit.meter->update_period();
    const bool busy = unit.state && unit.state->sm_utilisation.value_or(1.0) > kLoadedUtilisation;
    load_.see(now, busy, seen.iterations, seen.last_iteration);
    seen.under_load = load_.at_work(now);
  }
  seen.may_set = seen.may_set && some_are_ours;
  if (parts_.plan) seen.plan = parts_.plan->now(now);
  if (parts_.power_budget) seen.boards = boards();
  return seen;
}

void Session::decide(TimePoint now) {
  next_decision_ = now + kDecisionPeriod;
  give_way(now);
  const auto decision = parts_.strategy->next(observe(now));
  shift_.reset();
  if (decision.ask_again)
    next_decision_ = std::clamp(*decision.ask_again, now + Seconds(1e-3), next_decision_);
  carry_out(decision, now);
}

// Somebody else computes on a GPU that has our setting: theirs must not run at it. A job's GPUs wait for each
// other, so all go back; the strategy asks again once it may.
void Session::give_way(TimePoint now) {
  if (parts_.allow_shared) return;
  bool any = false;
  for (auto& unit : units_) {
    const bool shared = unit.ownership.verdict == Ownership::Verdict::foreign ||
                        unit.ownership.verdict == Ownership::Verdict::unknown;
    if (shared && !unit.gave_way) note("measure_only", cat(unit.name(), ": ", unit.ownership.why), now, {});
    unit.gave_way = shared;
    any = any || shared;
  }
  // Of a budget the strategy decides who is lowered before this one goes back.
  if (!any || in_force_.empty() || parts_.power_budget) return;
  put_all_back(now);
}

bool Session::disturbed() const {
  return std::any_of(units_.begin(), units_.end(), [](const GpuUnit& unit) {
    return unit.gave_way || unit.changed_by_someone_else || unit.put_back_failed > 0;
  });
}

void Session::spoil_blocks(GpuUnit& unit, TimePoint now) {
  unit.finished.clear();
  unit.blocks->spoil(now);
}

void Session::note(const std::string& action, const std::string& why, TimePoint now, const Setting& setting) {
  const record::Decision decision{now, action, setting, why};
  put(&record::Writer::decision, decision);
  if (parts_.decided) parts_.decided(decision);
  // Once rubato stands back, what the strategy would do is no longer what happens.
  if (action == "measure_only" || (!stand_back_ && parse_block_role(action))) doing_ = decision;
}

void Session::keep_expectation(const Setting& chosen, TimePoint now) {
  if (!parts_.writer) return;
  if (auto expected = parts_.strategy->expected(); expected && expectations_.keep(*expected, chosen, now))
    parts_.writer->expectation({now, std::move(*expected)});
}

void Session::tell_so_far(const record::Block& block) {
  so_far_.add(block);
  if (!parts_.so_far || block.setting.empty()) return;
  if (const auto so_far = so_far_.so_far())
    parts_.so_far(*so_far, tracker_.completed() + watch_->given_out(), in_force_);
}

/// Whether the job's warm-up goes on for another reason than any it had so far: what is waited for changes to
/// and fro. Later warm-ups are those of a setting, and short.
bool Session::waits_for_another(const govern::Decision& decision) {
  warmed_up_ = warmed_up_ || decision.role != BlockRole::warmup;
  return !warmed_up_ && waited_for_.insert(decision.why).second;
}

void Session::carry_out(const govern::Decision& decision, TimePoint now) {
  const bool news = waits_for_another(decision) || !last_decision_ ||
                    last_decision_->action != decision.action || last_decision_->role != decision.role ||
                    last_decision_->setting != decision.setting;
  const bool only_measures = parts_.strategy->name() == govern::kMeasureOnly;
  if (parts_.power_budget && !only_measures) {
    if (news) note_shares(decision, now);
  } else if (news) {
    const Setting& chosen = decision.action == govern::Action::wait ? in_force_ : decision.setting;
    note(only_measures ? "measure_only" : std::string(name_of(decision.role)), decision.why, now, chosen);
    keep_expectation(chosen, now);
  }
  if (!warmed_up_ && doing_.action == name_of(BlockRole::warmup)) doing_.why = decision.why;
  last_decision_ = decision;

  if (decision.action == govern::Action::use_setting && (in_force_ != decision.setting || owes_found())) {
    if (hold_lease(now)) {
      bool all = true;
      for (auto& unit : units_)
        if (unit.leased && !stand_back_) all = set(unit, decision.setting, now) && all;
      if (!stand_back_ && all) in_force_ = decision.setting;
    }
  } else if (decision.action == govern::Action::use_limits) {
    set_limits(decision, now);
  } else if (decision.action == govern::Action::use_plan && in_force_ != decision.setting) {
    start_plan(decision.setting, now);
  } else if (decision.action == govern::Action::use_found && !in_force_.empty()) {
    put_all_back(now);
  }
  pay_found(now);
  const BlockRole role = disturbed() ? BlockRole::warmup : decision.role;
  for (auto& unit : units_) unit.blocks->enter(role, unit.held(), now);
}

bool Session::hold_lease(TimePoint now) {
  if (parts_.lease->state() == LeaseHolder::State::held) return true;
  std::vector<GpuId> wanted;
  for (const auto& unit : units_)
    if (unit.ownership.verdict != Ownership::Verdict::none) wanted.push_back(unit.id());
  const auto granted = parts_.lease->acquire(wanted);
  if (!granted) {
    stand_back(granted.error(), now);
    return false;
  }
  for (const auto& found : granted->found) {
    for (auto& unit : units_) {
      if (unit.id() != found.gpu) continue;
      // Set since it was last read, and no setting that a dead run had left.
      if (unit.found && found.note.empty() && !same_limit(found.limits.requested, unit.found->requested)) {
        see_their_limit(unit, found.limits.requested, found.limits.enforced, now);
        continue;
      }
      unit.leased = true;
      unit.found = found.limits;
      if (!found.note.empty()) note("restored", cat(unit.name(), ": ", found.note), now, {});
    }
  }
  return !stand_back_;
}

void Session::stand_back(const Error& error, TimePoint now) {
  stop_plan(now);
  stand_back_ = true;
  note("measure_only", error.what, now, {});
  warn(Error{error.code, cat(error.what, "; going on, measuring only"), error.hint});
}

bool Session::leaves_out(const Setting& in_force, const Setting& wanted) {
  return (in_force.power_limit && !wanted.power_limit) || (in_force.sm_clock && !wanted.sm_clock) ||
         (in_force.memory_clock && !wanted.memory_clock) ||
         (in_force.application_clocks && !wanted.application_clocks);
}

bool Session::set(GpuUnit& unit, const Setting& setting, TimePoint now) {
  stop_plan(now);
  if (leaves_out(unit.in_force, setting) && (now < unit.put_back_next || !put_back(unit, now))) return false;
  const Status applied = apply(unit, setting, now);
  if (applied) return true;
  stand_back(applied.error(), now);
  put_all_back(now);
  return false;
}

Status Session::apply(GpuUnit& unit, const Setting& setting, TimePoint now) {
  flush_change(unit);
  record::SettingChange change{now, unit.id(), "rubato", setting, {}, std::nullopt, std::nullopt, "applied"};
  const auto applied = parts_.lease->apply(unit.id(), setting);
  if (!applied) {
    change.outcome = cat("refused: ", applied.error().what);
    put(&record::Writer::setting_change, change);
    return fail(applied.error());
  }
  change.requested = setting;
  change.requested.power_limit = applied->requested_limit;
  change.enforced = applied->enforced_limit;
  unit.expected_limit = applied->requested_limit;
  explain_change(unit, now);
  unit.last_write = now;
  unit.in_force = setting;
  unit.forget_debt();
  unit.last_requested = setting;
  if (setting.power_limit) unit.last_requested->power_limit = applied->requested_limit;
  unit.change = change;
  return {};
}

void Session::see_their_limit(GpuUnit& unit, Watts requested, std::optional<Watts> enforced, TimePoint at) {
  const Watts before = unit.seen_limit.value_or(unit.found ? unit.found->requested : requested);
  unit.seen_limit = requested;
  if (same_limit(requested, before)) return;
  explain_change(unit, at);
  // One stretch of the run is at one setting on all its GPUs.
  for (auto& each : units_) spoil_blocks(each, at);
  const bool as_found = unit.found && same_limit(requested, unit.found->requested);
  unit.theirs = as_found ? Setting{} : Setting{.power_limit = requested};
  record::SettingChange change{.at = at, .gpu = unit.id(), .who = "someone else"};
  change.requested.power_limit = requested;
  change.enforced = enforced;
  change.outcome = cat("it was ", before, "; nothing here is set by rubato");
  put(&record::Writer::setting_change, change);
  const std::string what =
      cat(unit.name(), ": someone else set the power limit to ", requested, " (it was ", before, ")");
  // Who meant to set it would do so beside another hand, and perhaps above what that hand allows.
  const bool meant_to_set = parts_.lease && parts_.strategy->name() != govern::kMeasureOnly;
  if (meant_to_set && !stand_back_)
    stand_back(Error{ErrorCode::conflict, what, "their value stands"}, at);
  else if (!std::exchange(unit.their_hand_told, true))
    warn(Error{ErrorCode::conflict, what,
               "what is measured from here on is of their setting; rubato sets nothing here"});
}

void Session::watch_limit(GpuUnit& unit, const SlowReading& reading) {
  if (!reading.requested_limit) return;
  if (!unit.leased)
    return see_their_limit(unit, *reading.requested_limit, reading.enforced_limit, reading.at);
  if (unit.changed_by_someone_else || !unit.expected_limit) return;
  if (reading.at <= unit.last_write || same_limit(*reading.requested_limit, *unit.expected_limit)) return;
  const bool as_found = unit.found && same_limit(*reading.requested_limit, unit.found->requested);
  if (as_found && (lease_lapsed(reading.at) || notice_death_of_guard(reading.at))) return;
  if (stand_back_) return;
  unit.changed_by_someone_else = true;
  explain_change(unit, reading.at);
  spoil_blocks(unit, reading.at);
  unit.blocks->enter(BlockRole::warmup, {}, reading.at);
  const std::string what = cat(unit.name(), ": someone else set the power limit to ",
                               *reading.requested_limit, " (rubato had ", *unit.expected_limit, ")");
  put(&record::Writer::setting_change, record::SettingChange{reading.at,
                                                             unit.id(),
                                                             "someone else",
                                                             {},
                                                             Setting{.power_limit = reading.requested_limit},
                                                             reading.enforced_limit,
                                                             reading.sm_clock,
                                                             "left alone"});
  // Their limit stands, and our clocks go; the other GPUs go back too, as nobody watches the bound any more.
  if (has_clocks(unit.in_force) && parts_.lease->usable()) put_back(unit, reading.at);
  if (unit.put_back_failed == 0) unit.in_force = {};
  // Under a budget the others keep their limits to the end: raised, they would break it for certain.
  if (!parts_.power_budget) put_all_back(reading.at, &unit);
  stand_back(Error{ErrorCode::conflict, what, "their value stands; it will not be changed at the end either"},
             reading.at);
}

// The guard hears nothing for 5 s when this process is stopped (Ctrl-Z), the machine sleeps or is far too
// busy: it has put everything back then, and the lease is taken anew.
bool Session::lease_lapsed(TimePoint now) {
  if (!parts_.lease || parts_.lease->state() != LeaseHolder::State::held) return false;
  const bool anew = parts_.lease->taken_anew();
  const auto lost = parts_.lease->why_lost();
  if (!anew && !lost) return false;
  stop_plan(now);
  note("restored",
       lost ? cat("the lease was ended and everything put back: ", lost->what)
            : std::string("the guard had heard nothing from us for too long and put everything back"),
       now, in_force_);
  for (auto& unit : units_) {
    if (!unit.leased) continue;
    explain_change(unit, now);
    spoil_blocks(unit, now);
    unit.is_as_found();
    unit.expected_limit = unit.found ? std::optional(unit.found->requested) : std::nullopt;
  }
  in_force_ = {};
  next_decision_ = now;
  if (lost) stand_back(*lost, now);
  return true;
}

void Session::notice_pause(TimePoint now) {
  if (last_step_ && now - *last_step_ > wire::kLeaseTimeout) {
    put(&record::Writer::gap, record::Gap{*last_step_, now, std::nullopt,
                                          "rubato was stopped, or a call that it made did not return"});
    pause_begin_ = *last_step_;
    pause_end_ = now;
    static_cast<void>(lease_lapsed(now));
  }
  last_step_ = now;
}

}  // namespace rubato::conduct
