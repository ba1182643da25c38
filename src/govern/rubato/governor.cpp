#include "govern/rubato/governor.h"

#include <algorithm>
#include <cmath>

#include "base/percent.h"
#include "base/text.h"
#include "govern/rubato/next_try.h"
#include "govern/rubato/pace.h"
#include "plan/search_candidates.h"
#include "plan/setting_of.h"

namespace rubato::govern {
namespace {

constexpr std::size_t kSettings = 600;  // weighed at once
// A job that is still running when this much of its allocation is gone is not slowed into its end.
constexpr double kAllocationUsed = 0.9;
// Counters of two runs of one program differ by this at most, relative; small ones by chance.
constexpr double kAlike = 0.15;
constexpr double kAlikeFloor = 0.1;
constexpr unsigned kMostAnew = 3;

}  // namespace

Governor::Governor(GovernorOptions options, Random random) : options_(std::move(options)), random_(random) {
  settings_ = plan::search_candidates(options_.space, kSettings);
  const auto position = std::find(settings_.begin(), settings_.end(), options_.space.found);
  found_ = static_cast<std::size_t>(position - settings_.begin());
  if (position == settings_.end()) settings_.push_back(options_.space.found);
  target_ = chosen_ = found_;
}

Decision Governor::next(const Observation& o) {
  follow(o);
  if (stage_ != Stage::ended && near_the_deadline(o))
    return end("the allocation ends soon: nothing may push the job beyond it, so the found setting is back");
  switch (stage_) {
    case Stage::no_load:
      return no_load(o);
    case Stage::warming:
      return warming(o);
    case Stage::visiting:
      if (target_ == found_ || !silent(o)) return visiting(o);
      fall_silent(o);
      return unseen(o);
    case Stage::unseen:
      return unseen(o);
    case Stage::ended:
      break;
  }
  if (!o.in_force.empty()) return {Action::use_found, {}, BlockRole::baseline, why_, std::nullopt};
  return {Action::wait, {}, BlockRole::baseline, why_, std::nullopt};
}

void Governor::follow(const Observation& o) {
  if (o.under_load) {
    idle_since_.reset();
  } else if (!idle_since_) {
    idle_since_ = o.now;
  }
  settings_in_force_.see(o.now, in_force(o));
  if (!o.tally) return;
  const bool worked = last_tally_ && o.tally->work > last_tally_->work;
  if (worked) {
    // What was lost beside was not lost by the setting.
    const Seconds beside = o.beside.lost - beside_.lost;
    const double own = 1 - beside / (o.tally->at - last_tally_->at);
    settings_in_force_.tell(last_tally_->at, o.tally->at, [&](std::size_t setting, Seconds time) {
      if (!programs_.empty()) program().ran(setting, time * own);
    });
    unnoticed_.lost += beside.value();
    beside_.lost = o.beside.lost;
  }
  beside_.reserved = o.beside.reserved;
  beside_.growth = o.beside.growth;
  if (worked || !last_tally_) last_tally_ = o.tally;
}

// Not what is asked for: on many nodes a change is agreed on first, and the one before stays meanwhile.
std::size_t Governor::in_force(const Observation& o) const {
  if (o.in_force.empty()) return found_;
  const auto is = [&](std::size_t i) { return plan::setting_of(settings_[i]) == o.in_force; };
  if (is(target_)) return target_;
  for (std::size_t i = 0; i < settings_.size(); ++i)
    if (is(i)) return i;
  return target_;
}

bool Governor::near_the_deadline(const Observation& o) const {
  if (!options_.deadline) return false;
  return o.now >= o.run_begin + (*options_.deadline - o.run_begin) * kAllocationUsed;
}

Decision Governor::end(std::string why) {
  stage_ = Stage::ended;
  why_ = std::move(why);
  return {Action::use_found, {}, BlockRole::baseline, why_, std::nullopt};
}

Decision Governor::no_load(const Observation& o) {
  if (settings_.size() < 2) return end("nothing may be set on this GPU, so nothing is searched for");
  if (!o.under_load)
    return {Action::wait, {}, BlockRole::warmup, "the job has not put this GPU to work yet", std::nullopt};
  stage_ = Stage::warming;
  warm_up_.begin(o);
  steadiness_.restart();
  warmth_.restart();
  return warming(o);
}

Decision Governor::warming(const Observation& o) {
  if (idle_since_ && o.now - *idle_since_ >= pace::kLoadGone) {
    stage_ = Stage::no_load;
    return no_load(o);
  }
  steadiness_.look(o);
  const bool by_time = warm_up_.iterations(o) == 0;
  const bool board = warmth_.steady(o);
  const bool warm = board && !o.tuning && o.tally && warm_up_.enough(o, pace::kWarmup, pace::kPatience) &&
                    (by_time || steadiness_.steady());
  if (!warm && !(o.tally && warm_up_.length(o) >= pace::kLongestWarmup))
    return {Action::wait,
            {},
            BlockRole::warmup,
            board ? "the job warms up; nothing is judged before load and iterations are steady"
                  : "the board warms up, and a warm one draws more: nothing is judged before",
            warm_up_.earliest_end(o, pace::kWarmup)};
  return go(o, found_, Purpose::baseline, "the job runs steadily; this is the baseline at the found setting");
}

Decision Governor::go(const Observation& o, std::size_t setting, Purpose purpose, std::string why) {
  stage_ = Stage::visiting;
  target_ = setting;
  purpose_ = purpose;
  ahead_.forget();
  BlockRole role = BlockRole::hold;
  switch (purpose) {
    case Purpose::baseline:
    case Purpose::confirm:
      role = BlockRole::baseline;
      break;
    case Purpose::trial:
    case Purpose::check:
      role = BlockRole::trial;
      break;
    case Purpose::hold:
      break;
    case Purpose::control:
      controls_.begin(o.now);
      [[fallthrough]];
    case Purpose::verify:
      role = BlockRole::control;
      break;
  }
  const double cell = purpose == Purpose::baseline ? 0 : program().baseline().cell;
  visit_.begin(setting == found_ ? Setting{} : plan::setting_of(settings_[setting]), role, std::move(why), o,
               cell);
  return visiting(o);
}

Decision Governor::visiting(const Observation& o) {
  if (auto decision = visit_.step(o)) return std::move(*decision);
  if (idle_since_) {
    visit_.measure_anew(o);
    return visit_.wait();
  }
  if (!whole(o)) {
    if (purpose_ == Purpose::baseline) draw_ahead(o);
    return visit_.wait();
  }
  return finished(o);
}

bool Governor::enough(const Observation& o, const StretchNeeds& needs) const {
  const StretchMeter& meter = visit_.meter();
  return meter.length() >= std::max(needs.time, o.sensor_period * needs.sensor_updates) &&
         meter.work() >= static_cast<double>(needs.iterations);
}

bool Governor::whole(const Observation& o) {
  const StretchMeter& meter = visit_.meter();
  switch (purpose_) {
    case Purpose::baseline: {
      if (anew_ < kMostAnew && meter.since_shift(pace::kShift)) return true;
      if (!enough(o, pace::kBaseline)) return false;
      if (meter.length() >= pace::kLongestBaseline) return true;
      const auto mean = meter.mean();
      return mean && mean->time_scatter &&
             std::sqrt(*mean->time_scatter / mean->work) <= pace::kBaselineError;
    }
    case Purpose::confirm:
      return enough(o, pace::kConfirm);
    case Purpose::trial:
      return enough(o, pace::kTrial) || (enough(o, pace::kGlance) && changed_meanwhile());
    case Purpose::check:
      return enough(o, pace::kCheck) || (enough(o, pace::kGlance) && changed_meanwhile());
    case Purpose::hold:
      return enough(o, pace::kChunk) || (enough(o, pace::kGlance) && changed_meanwhile());
    case Purpose::control:
    case Purpose::verify:
      return enough(o, pace::kControl);
  }
  return true;
}

Decision Governor::finished(const Observation& o) {
  const auto mean = visit_.meter().mean();
  if (!mean) {
    visit_.measure_anew(o);
    return visit_.wait();
  }
  const auto since_shift = visit_.meter().since_shift(pace::kShift);
  // At another setting than the found one nothing is measured again: what it costs the job now, nobody knows.
  if (since_shift && (purpose_ == Purpose::hold || target_ != found_)) return after_surprise(o, *since_shift);
  if (since_shift && anew_ < kMostAnew) {
    ++anew_;
    visit_.measure_anew(o);
    return visit_.wait();
  }
  anew_ = 0;
  if (target_ != found_) silences_ = 0;
  if (purpose_ == Purpose::baseline) return after_baseline(o, *mean);
  if (purpose_ == Purpose::verify) return verified(o, *mean);
  if (purpose_ == Purpose::control) controls_.end(o.now);
  if (surprising(*mean)) return after_surprise(o, *mean);
  if (purpose_ == Purpose::trial || purpose_ == Purpose::check) {
    program().look(target_, *mean);
  } else {
    program().add(target_, *mean);
  }
  switch (purpose_) {
    case Purpose::trial:
      ++program().tries;
      program().fit();
      return search(o);
    case Purpose::confirm:
      program().fit();
      if (!program().searched) return begin_to_hold(o);
      choose(o);
      return hold(o);
    case Purpose::check:
      // Back first: whether the job changed meanwhile, a setting that is known tells.
      next_review_ = 0;
      return hold(o);
    case Purpose::hold:
      strays_ = 0;
      recognised_before_ = false;
      return held(o);
    case Purpose::control:
      controls_.plan(o.now, program().unit() * 3.0 + pace::kDrains + visit_.meter().length(), random_);
      [[fallthrough]];
    default:
      program().fit();
      choose(o);
      return hold(o);
  }
}

Decision Governor::after_baseline(const Observation& o, const StretchMean& mean) {
  if (const auto known = over_already(mean)) {
    surprise_.reset();
    return back_at(o, *known, mean);
  }
  if (!make_program(o, mean)) return end("no curve can be drawn for this GPU, so nothing is searched for");
  if (programs_.size() == 1) program().ran(found_, o.tally->at - o.run_begin);
  program().era = ++era_;
  program().add(found_, mean);
  program().fit();
  return search(o);
}

Decision Governor::search(const Observation& o) {
  const Program& p = program();
  if (options_.remembered && p.tries == 0 && programs_.size() == 1 && looks_alike(o)) {
    for (std::size_t i = 0; i < settings_.size(); ++i)
      if (plan::setting_of(settings_[i]) == options_.remembered->setting && i != found_)
        return go(o, i, Purpose::trial,
                  cat("trying ", describe_setting(i), ", where an earlier run of ", options_.remembered->when,
                      " settled"));
  }
  if (p.tries < pace::kMostTries)
    if (const auto next = next_try(p.belief(), p.history(), options_.goal, p.board()))
      return go(
          o, next->setting, Purpose::trial,
          cat("trying ", describe_setting(next->setting), ": it would save ", short_percent(next->saving),
              " and holds the bound with ", short_percent(next->holds, 0)));
  return bound_matters()
             ? confirm(o,
                       "the bound is what limits the saving: the found setting once more, so that "
                       "a job that drifts does not deceive")
             : begin_to_hold(o);
}

Decision Governor::confirm(const Observation& o, std::string why) {
  return go(o, found_, Purpose::confirm, std::move(why));
}

// The same program on other data, or another model under the same name, shows in the counters.
bool Governor::looks_alike(const Observation& o) const {
  if (!o.features) return true;
  for (const auto& [name, then] : options_.remembered->features) {
    const auto now = o.features->find(name);
    if (now != o.features->end() &&
        std::abs(now->second - then) > kAlike * std::max(std::abs(then), kAlikeFloor))
      return false;
  }
  return true;
}

std::string Governor::describe_setting(std::size_t setting) const {
  return setting == found_ ? std::string("the found setting")
                           : describe(plan::setting_of(settings_[setting]));
}

}  // namespace rubato::govern
