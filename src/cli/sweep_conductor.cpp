#include "cli/sweep_conductor.h"

#include <unistd.h>

#include <algorithm>

#include "analyse/student_t.h"
#include "base/log.h"
#include "base/text.h"
#include "experiment/sweep_in_force.h"
#include "experiment/sweep_stop.h"
#include "experiment/sweep_within.h"
#include "govern/clock_lock.h"
#include "govern/sweep_strategy.h"
#include "govern/whole_run_strategy.h"
#include "plan/setting_of.h"
#include "report/format.h"

namespace rubato::cli {
namespace {

using experiment::SweepMeasurement;

// A board that is warm changes by less than this over the second half of a run, and from one run to the next.
constexpr Celsius kWarm{1.0};
constexpr int kNothingMeasured = 1;

bool warm(const SweepMeasurement& latest, const std::optional<SweepMeasurement>& before) {
  if (!latest.temperature) return true;  // nothing to go by
  if (before && before->temperature && abs(*latest.temperature - *before->temperature) <= kWarm) return true;
  return latest.temperature_halfway && latest.temperature_halfway != latest.temperature &&
         abs(*latest.temperature - *latest.temperature_halfway) <= kWarm;
}

bool restoration_failed(const record::RunRecord& run) {
  return run.end && std::any_of(run.end->devices.begin(), run.end->devices.end(),
                                [](const auto& device) { return device.restoration == Restoration::failed; });
}

std::string in_short(const SweepMeasurement& m) {
  return cat(m.warmup ? "warm-up" : experiment::describe(m.at), ": ", report::text_of(m.time), ", ",
             report::text_of(m.energy), m.not_used.empty() ? "" : cat("; not used: ", m.not_used));
}

}  // namespace

std::optional<Seconds> wall_of_one_run(const std::vector<SweepMeasurement>& measured, double clock_rate) {
  Seconds sum;
  for (const auto& m : measured) sum += m.time;
  if (measured.empty()) return std::nullopt;
  return sum / static_cast<double>(measured.size()) / clock_rate;
}

SweepConductor::SweepConductor(const Invocation& invocation, const SweepOptions& options,
                               const SweepPlan& plan, const SweepFacts& facts, Interrupts& interrupts,
                               experiment::SweepState& state)
    : invocation_(invocation),
      options_(options),
      plan_(plan),
      facts_(facts),
      interrupts_(interrupts),
      state_(state),
      steps_(experiment::sweep_schedule(facts.points.size(), plan.schedule)) {}

SweepEnd SweepConductor::run() {
  if (steps_left() > 0) static_cast<void>(options_.within ? inside_one_run() : whole_runs());
  if (end_.why.empty() && steps_left() > 0)
    static_cast<void>(
        stop(kNothingMeasured,
             "no control run of this stretch can be used, so what was measured in it has nothing "
             "to be compared with"));
  return std::move(end_);
}

bool SweepConductor::stop(int status, std::string why) {
  end_.status = status;
  end_.why = std::move(why);
  return false;
}

predict::KnobPoint SweepConductor::point_of(const experiment::SweepStep& step) const {
  return step.point ? facts_.points[*step.point] : predict::KnobPoint{};
}

bool SweepConductor::done(const experiment::SweepStep& step) const {
  const auto comparable = experiment::sessions_with_control(state_.measured());
  return std::any_of(state_.measured().begin(), state_.measured().end(), [&](const SweepMeasurement& m) {
    return !m.warmup && m.at == point_of(step) && m.repeat == step.repeat && comparable.contains(m.session);
  });
}

bool SweepConductor::was_left_out(const experiment::SweepStep& step) const {
  return step.point && std::any_of(end_.skipped.begin(), end_.skipped.end(), [&](const auto& skipped) {
           return skipped.first == facts_.points[*step.point];
         });
}

std::size_t SweepConductor::steps_left() const {
  return static_cast<std::size_t>(std::count_if(
      steps_.begin(), steps_.end(), [this](const auto& step) { return !done(step) && !was_left_out(step); }));
}

ChildEnd SweepConductor::start(const predict::KnobPoint& at, std::unique_ptr<govern::Strategy> strategy) {
  return in_child(interrupts_, [&](int say) {
    if (log::level() == log::Level::info) log::set_level(log::Level::warning);
    Invocation own = invocation_;
    Experiment experiment;
    experiment.strategy = std::move(strategy);
    experiment.conclude = [say](const Result<std::filesystem::path>& file) {
      if (file) say_all(say, file->string());
      return 0;
    };
    return run_job(own, options_at(options_.run, at), std::move(experiment));
  });
}

bool SweepConductor::interrupted() {
  interrupts_.take(0);
  const int signal = interrupts_.asked_to_end();
  if (signal != 0) static_cast<void>(stop(128 + signal, "interrupted"));
  return signal != 0;
}

bool SweepConductor::ended_well(const ChildEnd& child, const std::string& where) {
  if (interrupted()) return false;
  if (child.said.empty())
    return stop(child.status == 0 ? kNothingMeasured : child.status,
                "a run could not be measured; the message above says why");
  if (child.status != 0)
    return stop(child.status,
                cat("the command ended with status ", child.status, " ", where, ", so the sweep ends"));
  return true;
}

std::optional<record::RunRecord> SweepConductor::read(const ChildEnd& child) {
  auto run = record::read_run(child.said);
  if (!run) {
    static_cast<void>(stop(kNothingMeasured, run.error().what));
    return std::nullopt;
  }
  if (restoration_failed(*run)) {
    static_cast<void>(
        stop(kNothingMeasured, "a GPU could not be put back as it was found: nothing more is set"));
    return std::nullopt;
  }
  return std::move(*run);
}

std::optional<record::RunRecord> SweepConductor::one_run(const predict::KnobPoint& at) {
  if (interrupted()) return std::nullopt;
  std::unique_ptr<govern::Strategy> strategy;
  if (at != predict::KnobPoint{}) strategy = std::make_unique<govern::WholeRunStrategy>(plan::setting_of(at));
  const ChildEnd child = start(at, std::move(strategy));
  if (!ended_well(child, cat("at ", experiment::describe(at)))) return std::nullopt;
  return read(child);
}

// Clocks that are locked already cannot be put back: no driver tells the lock. What the GPU does under load
// before anything is set does.
bool SweepConductor::judge_found_clocks(const record::RunRecord& run) {
  const bool clocks = plan_.sweeps(Knob::sm_clock) || plan_.sweeps(Knob::memory_clock);
  if (clocks_judged_ || !clocks || !options_.run.wanted.found_sm_clock.empty()) return true;
  clocks_judged_ = true;
  for (const auto& device : run.devices) {
    govern::ClockLockEvidence evidence;
    govern::Observation seen;
    seen.under_load = true;
    seen.highest_sm_clock = facts_.highest_sm_clock;
    for (const SlowReading& reading :
         experiment::loaded_readings(device, run.info.begin, run.end ? run.end->end : run.info.begin)) {
      seen.now = reading.at;
      seen.state = reading;
      evidence.look(seen);
    }
    if (const auto objection = evidence.objection())
      return stop(kNothingMeasured, cat("clocks are not swept: ", *objection));
  }
  return true;
}

// A limit that changed over an interruption has been refused before anything ran. A lock can only be seen.
bool SweepConductor::at_found_clocks(const SweepMeasurement& latest) {
  if (!latest.used() || !latest.control() || !options_.run.wanted.found_sm_clock.empty()) return true;
  const auto& all = state_.measured();
  const auto before =
      std::find_if(all.begin(), all.end(), [](const SweepMeasurement& m) { return m.used() && m.control(); });
  if (before == all.end() || before->session == state_.session()) return true;
  const auto moved = experiment::found_clock_moved(before->reached, latest.reached);
  return !moved || stop(kNothingMeasured, *moved);
}

bool SweepConductor::keep(SweepMeasurement measurement) {
  measurement.session = state_.session();
  if (const Status kept = state_.add(measurement); !kept) return stop(kNothingMeasured, kept.error().what);
  tell(measurement);
  return true;
}

void SweepConductor::tell(const SweepMeasurement& measurement) const {
  const std::size_t left = steps_left();
  std::string line = cat(steps_.size() - left, " of ", steps_.size(), ": ", in_short(measurement));
  const auto each = options_.within ? std::nullopt : wall_of_one_run(state_.measured(), facts_.clock_rate);
  if (each && left > 0) line += cat("; about ", report::text_of(*each * static_cast<double>(left)), " left");
  if (!measurement.not_used.empty())
    log::warning(line);
  else if (isatty(STDERR_FILENO) == 1)
    log::info(line);
  else
    log::debug(line);
}

bool SweepConductor::warm_up() {
  std::optional<SweepMeasurement> before;
  for (unsigned i = 0; i < options_.warmup; ++i) {
    const auto run = one_run({});
    if (!run || !judge_found_clocks(*run)) return false;
    SweepMeasurement measured = experiment::measurement_of(*run, {});
    measured.warmup = true;
    measured.repeat = i;
    if (!keep(measured)) return false;
    if (warm(measured, before)) return true;
    before = std::move(measured);
  }
  if (options_.warmup > 0)
    log::info(cat("the temperature still rises after ", options_.warmup,
                  " warm-up runs; the control runs show what that does"));
  return true;
}

bool SweepConductor::begin(const experiment::SweepStep& first) {
  if (!warm_up()) return false;
  // What was measured before an interruption lies on another baseline: settings need a control of their own.
  return !first.point || measure(steps_.front());
}

bool SweepConductor::left_out(const experiment::SweepStep& step) {
  if (!options_.stop_early || !step.point) return false;
  const auto summary = experiment::summarise_sweep(state_.measured(), &analyse::student_t_quantile);
  if (!summary) return false;
  const predict::KnobPoint at = point_of(step);
  const auto why = experiment::why_skip(at, *summary, plan_.max_slowdown);
  if (!why) return false;
  log::debug(cat(experiment::describe(at), " is left out: ", *why));
  end_.skipped.emplace_back(at, *why);
  return true;
}

bool SweepConductor::measure(const experiment::SweepStep& step) {
  const bool first_setting =
      step.point && std::none_of(state_.measured().begin(), state_.measured().end(),
                                 [](const SweepMeasurement& m) { return m.used() && !m.control(); });
  const predict::KnobPoint at = point_of(step);
  const auto run = one_run(at);
  if (!run || !judge_found_clocks(*run)) return false;
  SweepMeasurement measured = experiment::measurement_of(*run, at);
  measured.repeat = step.repeat;
  if (first_setting && measured.not_used.starts_with("refused"))
    return stop(kNothingMeasured, cat("the first setting was ", measured.not_used));
  return at_found_clocks(measured) && keep(std::move(measured));
}

bool SweepConductor::whole_runs() {
  bool begun = false;
  for (const auto& step : steps_) {
    if (done(step) || left_out(step)) continue;
    if (!begun && !begin(step)) return false;
    begun = true;
    if (!measure(step)) return false;
  }
  return true;
}

bool SweepConductor::keep_all(const std::vector<experiment::SweepStep>& left,
                              std::vector<SweepMeasurement> measured) {
  for (std::size_t i = 0; i < measured.size(); ++i) {
    measured[i].repeat = left[i].repeat;
    if (!at_found_clocks(measured[i]) || !keep(std::move(measured[i]))) return false;
  }
  return true;
}

bool SweepConductor::inside_one_run() {
  std::vector<experiment::SweepStep> left;
  std::vector<predict::KnobPoint> points;
  govern::SweepOptions walk{{}, options_.iterations, !options_.run.wanted.found_sm_clock.empty()};
  for (const auto& step : steps_) {
    // What is left of an interrupted sweep is another run, which needs a control of its own.
    const bool own_control = !step.point && left.empty();
    if (done(step) && !own_control) continue;
    left.push_back(step);
    points.push_back(point_of(step));
    walk.steps.push_back(plan::setting_of(points.back()));
  }
  const ChildEnd child = start(facts_.points.front(), std::make_unique<govern::SweepStrategy>(walk));
  const bool well = ended_well(child, "before all settings were measured");
  if (child.said.empty()) return false;
  const SweepEnd so_far = end_;
  const auto run = read(child);
  if (!run) return false;
  auto measured = experiment::measurements_within(*run, points, options_.iterations);
  const std::size_t count = measured.size();
  if (!keep_all(left, std::move(measured))) return false;
  end_ = so_far;
  if (!well || count == left.size()) return well;
  const std::string last = run->decisions.empty() ? "" : cat(": ", run->decisions.back().why);
  return stop(kNothingMeasured,
              count == 0 ? cat("no setting was measured", last)
                         : cat("the command ended after ", count, " of ", left.size(), " stretches"));
}

}  // namespace rubato::cli
