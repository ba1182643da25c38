#include "lab/replay.h"

#include <memory>
#include <utility>
#include <vector>

#include "plan/setting_of.h"

namespace rubato::lab {
namespace {

// Away from the axis' origin, so that nobody takes it for one.
constexpr TimePoint kBegin{1'000'000'000'000};

std::optional<double> value_on(const predict::KnobPoint& at, Knob knob) {
  if (knob == Knob::sm_clock && at.sm_clock) return at.sm_clock->value();
  return std::nullopt;
}

class Replay {
 public:
  Replay(const Job& job, const CostTable& costs, const Draw& draw, Watts host)
      : job_(job), costs_(costs), draw_(draw), host_(host.value()), in_force_(job.found) {
    tried_.assign(job.grid.size(), 0);
    seen_.now = kBegin;
    seen_.run_begin = kBegin;
    seen_.under_load = true;
    seen_.may_set = true;
    seen_.sensor_period = Seconds(0);
    seen_.tally = govern::Tally{.work = 0, .at = kBegin, .energy = Joules(0)};
    seen_.features = std::make_shared<const std::map<std::string, double>>(job.programs.front().features);
    if (const auto highest = value_on(job.space.highest, Knob::sm_clock))
      seen_.highest_sm_clock = Megahertz(*highest);
    seen_.state = SlowReading{};
    tell_state();
  }

  void ask(govern::Strategy& strategy) {
    const govern::Decision decision = strategy.next(seen_);
    if (decision.role == BlockRole::hold && !out_.settled_after) out_.settled_after = seen_.iterations;
    if (decision.action == govern::Action::use_found) {
      go(job_.found, true);
    } else if (decision.action == govern::Action::use_setting) {
      go(setting_index(decision.setting), decision.setting.empty());
    }
    if (out_.settled_after && decision.role == BlockRole::trial && std::exchange(moved_, false))
      ++out_.settings_rechecked;
  }

  void iterate(std::size_t i) {
    const std::size_t program = phase_.next();
    const double own_time = draw_.own_time.empty() ? 1.0 : draw_.own_time[i];
    const double own_energy = draw_.own_power.empty() ? own_time : own_time * draw_.own_power[i];
    const IterationCost& used = costs_.at(program, in_force_);
    const IterationCost& base = costs_.at(program, job_.found);
    const double time = used.time * own_time;
    const double energy = used.energy * own_energy;
    used_.time += time;
    used_.energy += energy + host_ * time;
    base_.time += base.time * own_time;
    base_.energy += base.energy * own_energy + host_ * base.time * own_time;
    if (used_.time >= kJudgedAfter.value()) {
      const double slowdown = used_.time / base_.time - 1;
      if (!judged_ || slowdown > worst_) worst_ = slowdown;
      judged_ = true;
    }
    seen_time_ += time * draw_.seen_time[i];
    seen_energy_ += energy * draw_.seen_time[i] * draw_.seen_power[i];
    seen_.now = kBegin + Seconds(seen_time_);
    seen_.last_iteration = seen_.now;
    seen_.iterations = static_cast<std::int64_t>(i) + 1;
    seen_.state->at = seen_.now;
    seen_.tally->work = static_cast<double>(seen_.iterations);
    seen_.tally->at = seen_.now;
    seen_.tally->energy = Joules(seen_energy_);
  }

  Replayed result() {
    out_.saving = 1 - used_.energy / base_.energy;
    out_.slowdown = used_.time / base_.time - 1;
    if (judged_) out_.worst_running_slowdown = worst_;
    return out_;
  }

 private:
  std::size_t setting_index(const Setting& setting) const {
    if (setting.empty()) return job_.found;
    predict::KnobPoint at{.power_limit = setting.power_limit, .sm_clock = {}, .memory_clock = {}};
    if (setting.sm_clock) at.sm_clock = setting.sm_clock->max;
    if (setting.memory_clock) at.memory_clock = setting.memory_clock->max;
    std::size_t index = 0;
    const plan::Position position = plan::position_of(job_.space, at);
    for (std::size_t a = 0; a < position.size(); ++a)
      index = index * job_.space.axes[a].values.size() + position[a];
    return index;
  }

  void go(std::size_t setting, bool found) {
    if (!out_.settled_after && setting != job_.found && !tried_[setting]) {
      tried_[setting] = 1;
      ++out_.settings_tried;
    }
    if (setting != in_force_) {
      ++out_.changes;
      moved_ = setting != job_.found;
    }
    in_force_ = setting;
    seen_.in_force = found ? Setting{} : plan::setting_of(job_.grid[setting]);
    tell_state();
  }

  void tell_state() {
    const predict::KnobPoint& at = job_.grid[in_force_];
    seen_.state->at = seen_.now;
    seen_.state->sm_clock = at.sm_clock;
    seen_.state->memory_clock = at.memory_clock;
    seen_.state->requested_limit = at.power_limit;
    seen_.state->enforced_limit = at.power_limit;
  }

  const Job& job_;
  const CostTable& costs_;
  const Draw& draw_;
  double host_;
  std::size_t in_force_;
  PhaseCursor phase_{job_};
  govern::Observation seen_;
  std::vector<char> tried_;  // by setting
  RunCost used_;
  RunCost base_;
  double seen_time_ = 0;
  double seen_energy_ = 0;
  bool moved_ = false;  // to a setting, and not yet counted as a recheck
  bool judged_ = false;
  double worst_ = 0;
  Replayed out_;
};

}  // namespace

Replayed replay(const Job& job, const CostTable& costs, const Draw& draw, govern::Strategy& strategy,
                std::int64_t iterations, Watts host) {
  Replay run(job, costs, draw, host);
  for (std::size_t i = 0; i < static_cast<std::size_t>(iterations); ++i) {
    run.ask(strategy);
    run.iterate(i);
  }
  return run.result();
}

}  // namespace rubato::lab
