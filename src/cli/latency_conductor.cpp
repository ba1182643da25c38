#include "cli/latency_conductor.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "base/log.h"
#include "base/text.h"
#include "cli/build.h"
#include "cli/calibrate_child.h"
#include "cli/job_gpus.h"
#include "cli/progress_line.h"
#include "cli/wanted.h"
#include "conduct/job.h"
#include "conduct/lease_holder.h"
#include "conduct/ownership.h"
#include "govern/clock_lock.h"

namespace rubato::cli {
namespace {

using experiment::LatencyStudy;

// On the GPU's own clock.
constexpr Seconds kLoadComes{60};  // the CUDA driver's first start on a machine takes tens of seconds
constexpr Seconds kLoadRuns{3};    // until clocks under load stand still, the power limit's walk included
constexpr Seconds kLook{0.2};
constexpr Seconds kOwnership{1};
// Below what the power limit leaves, no change is mixed up with its walk.
constexpr double kBelowLimit = 0.95;
constexpr Seconds kLoadEnds{5};  // wall

Error interrupted() {
  return {ErrorCode::unavailable, "interrupted", {}};
}

class Load {
 public:
  static Result<Load> start(const LatencyOptions& options, const OpenGpus& open, Seconds length) {
    const device::Gpu& gpu = *open.gpus.front();
    std::vector<std::string> words = {own_program()};
    // Units take between 0.1 and 1 s: there are enough of them in any case.
    const std::string units = number(std::ceil(length.value() * 20), 0);
    if (gpu.kind() == Kind::modelled)
      words.insert(words.end(), {"sim", "train", cat("calibrate-", options.load), "--iterations", units});
    else
      words.insert(words.end(), {"calibrate-kernel", options.load, "--uuid", gpu.identity().id.uuid,
                                 "--seconds", number(length.value(), 0)});
    // What it prints at its end is no part of our output.
    words.insert(words.begin(), {"/bin/sh", "-c", "exec \"$0\" \"$@\" >/dev/null"});
    const std::string id = cat("latency-", ::getpid());
    auto environment = environment_of(open);
    environment.emplace_back(conduct::kRunIdVariable, id);
    auto job = conduct::Job::start(words, environment);
    if (!job) return fail(job.error().error);
    return Load(*job, id);
  }
  [[nodiscard]] Status running() {
    if (!job_.poll().ended()) return {};
    return fail(ErrorCode::unavailable, "the load ended by itself; its words above say why");
  }
  [[nodiscard]] conduct::Ownership owner(const std::vector<ComputeProcess>& processes) const {
    return conduct::OwnershipCheck(FsRoot{}, job_.pid(), id_).judge(processes);
  }
  void end() {
    const RealClock wall;
    const TimePoint until = wall.now() + kLoadEnds;
    if (!job_.poll().ended()) job_.send(SIGTERM);
    while (!job_.poll().ended() && wall.now() < until) ::poll(nullptr, 0, 10);
    if (!job_.poll().ended()) job_.send(SIGKILL);
  }

 private:
  Load(conduct::Job job, std::string id) : job_(job), id_(std::move(id)) {}
  conduct::Job job_;
  std::string id_;
};

class Conductor final : public experiment::LatencyBench {
 public:
  Conductor(const LatencyOptions& options, const LatencyTarget& target, OpenGpus& open,
            std::unique_ptr<wire::Channel> channel, conduct::Rescue rescue, Interrupts& interrupts,
            bool quiet)
      : options_(options),
        target_(target),
        open_(open),
        gpu_(*open.gpus.front()),
        clock_(open.selection.backend->clock()),
        client_(std::move(channel), clock_),
        lease_(&client_, knobs(), found_lock(), std::move(rescue)),
        interrupts_(interrupts),
        quiet_(quiet) {}

  LatencyEnd run() {
    LatencyEnd out;
    const Status through = carry_out(out);
    out.restored = lease_.release([this](const GpuId&) { return gpu_.power_limits(); });
    if (load_) load_->end();
    if (!through) out.table = fail(through.error());
    return out;
  }

  Result<experiment::AskedFor> ask(const Setting& setting) override {
    const TimePoint before = clock_->now();
    const auto applied = lease_.apply(gpu_.identity().id, setting);
    if (!applied) return fail(applied.error());
    if (!applied->lock_asked)
      return fail(ErrorCode::internal, "the guard does not say when it asked the driver",
                  "is it of another version of rubato?");
    asking_.push_back(*applied->lock_asked - before);
    return experiment::AskedFor{*applied->lock_asked, clock_->now()};
  }
  Result<ClockReading> clocks() override { return gpu_.read_clocks(); }
  Result<FastReading> power() override { return gpu_.read_fast(); }
  Result<SlowReading> state() override { return gpu_.read_slow(); }

 private:
  [[nodiscard]] std::vector<Knob> knobs() const {
    std::vector<Knob> out = {Knob::sm_clock};
    if (options_.memory_clocks) out.push_back(Knob::memory_clock);
    return out;
  }
  [[nodiscard]] std::optional<ClockRange> found_lock() const {
    const auto wanted = parse_wanted({.power_limit_w = {},
                                      .sm_clock_mhz = {},
                                      .memory_clock_mhz = {},
                                      .found_sm_clock = options_.found_sm_clock});
    return wanted ? wanted->found_sm_clock : std::nullopt;
  }

  Status carry_out(LatencyEnd& out) {
    const auto sensor = known_sensor(*open_.selection.backend, gpu_);
    // The plan is not known before the load runs; a dozen readings more cost nothing.
    auto plan = study_plan(options_, target_, target_.table.sm.back(), sensor);
    if (!plan) return fail(plan.error());
    const double changes = static_cast<double>(plan->pairs.size() * options_.repeats);
    auto load = Load::start(options_, open_, kLoadComes + experiment::length_of_change(*plan) * changes * 4);
    if (!load) return fail(load.error());
    load_.emplace(std::move(*load));
    if (Status ready = load_here(); !ready) return ready;
    if (Status free = clocks_are_free(); !free) return free;
    if (Status seen = see_memory_clock(); !seen) return seen;
    const auto granted = lease_.acquire({gpu_.identity().id});
    if (!granted) return fail(granted.error());
    const auto highest = highest_clock();
    if (!highest) return fail(highest.error());
    if (*highest < target_.table.sm.back())
      out.notes.push_back(cat("under this load the power limit leaves SM clocks up to about ", *highest,
                              ": higher ones were not timed"));
    plan = study_plan(options_, target_, *highest, sensor);
    if (!plan) return fail(plan.error());
    plan->calls_take_no_time = gpu_.kind() == Kind::modelled;
    LatencyStudy study(std::move(*plan), Random(options_.seed));
    asking_.clear();
    if (Status timed = time_changes(study); !timed) return timed;
    out.table = study.table();
    if (out.table) describe(*out.table);
    return {};
  }

  void describe(experiment::LatencyTable& table) {
    table.kind = gpu_.kind();
    table.gpu = gpu_.identity().name;
    table.uuid = gpu_.identity().id.uuid;
    table.driver_version = open_.selection.backend->driver_version();
    table.load = options_.load;
    // In a simulated world that runs faster than the wall the guard's time counts many times.
    if (gpu_.kind() != Kind::measured || asking_.empty()) return;
    const auto middle = asking_.begin() + static_cast<std::ptrdiff_t>(asking_.size() / 2);
    std::nth_element(asking_.begin(), middle, asking_.end());
    table.asking = *middle;
  }

  /// Sleeps until `due`, keeping the lease alive; an error where it is time to end.
  Status wait(TimePoint due) {
    const TimePoint beat = lease_.state() == conduct::LeaseHolder::State::held ? client_.next_due() : due;
    const double wall = std::clamp(clock_->wall(std::min(due, beat) - clock_->now()).value(), 0.0, 1.0);
    const timespec patience{static_cast<time_t>(wall), static_cast<long>((wall - std::floor(wall)) * 1e9)};
    pollfd signals{interrupts_.fd(), POLLIN, 0};
    if (::ppoll(&signals, 1, &patience, nullptr) > 0) interrupts_.take(0);
    if (interrupts_.asked_to_end() != 0) return fail(interrupted());
    if (lease_.state() == conduct::LeaseHolder::State::held)
      if (Status alive = client_.step(clock_->now()); !alive) return alive;
    return load_->running();
  }
  Status pass(Seconds span) {
    const TimePoint end = clock_->now() + span;
    while (clock_->now() < end)
      if (Status s = wait(end); !s) return s;
    return {};
  }

  Status only_ours(bool needed) {
    const auto processes = gpu_.compute_processes();
    if (!processes) return fail(processes.error());
    const auto owner = load_->owner(*processes);
    if (owner.verdict == conduct::Ownership::Verdict::job) return {};
    if (owner.verdict == conduct::Ownership::Verdict::none && !needed) return {};
    return fail(ErrorCode::busy,
                cat(gpu_.identity().id.uuid, ": ",
                    owner.why.empty() ? "the load has no compute context" : owner.why.c_str()),
                "rubato latency needs the GPU for itself");
  }

  Status load_here() {
    const TimePoint until = clock_->now() + kLoadComes;
    for (;;) {
      const auto state = gpu_.read_slow();
      if (!state) return fail(state.error());
      const auto processes = gpu_.compute_processes();
      if (!processes) return fail(processes.error());
      if (Status ours = only_ours(false); !ours) return ours;
      const bool busy = !state->sm_utilisation || *state->sm_utilisation > 0.5;
      if (busy && load_->owner(*processes).job_here) return pass(kLoadRuns);
      if (clock_->now() > until)
        return fail(ErrorCode::timeout, cat("no load came on the GPU within ", kLoadComes));
      if (Status s = pass(kLook); !s) return s;
    }
  }

  /// A lock that was in force before cannot be read, so it could not be put back.
  Status clocks_are_free() {
    if (!options_.found_sm_clock.empty()) return {};
    govern::ClockLockEvidence evidence;
    govern::Observation seen;
    seen.under_load = true;
    seen.highest_sm_clock = target_.table.sm.back();
    while (!evidence.enough()) {
      if (Status s = pass(kLook); !s) return s;
      const auto state = gpu_.read_slow();
      if (!state) return fail(state.error());
      seen.now = state->at;
      seen.state = *state;
      evidence.look(seen);
    }
    if (const auto why = evidence.objection())
      return fail(ErrorCode::conflict, cat("clocks are not set: ", *why),
                  "--found-sm-clock MIN:MAX states it, --found-sm-clock none that there is none");
    return {};
  }

  /// Compute does not run at the highest memory clock everywhere.
  Status see_memory_clock() {
    const auto reading = gpu_.read_clocks();
    if (!reading) return fail(reading.error());
    if (reading->memory) target_.at.memory = *reading->memory;
    return {};
  }

  /// The highest clock that this load reaches and keeps.
  Result<Megahertz> highest_clock() {
    const auto& table = target_.table.sm;
    if (const auto asked = ask({.sm_clock = ClockRange{table.back(), table.back()}}); !asked)
      return fail(asked.error());
    if (const Status s = pass(kLoadRuns); !s) return fail(s.error());
    Megahertz lowest = table.back();
    for (int i = 0; i < 5; ++i) {
      if (const Status s = pass(kLook); !s) return fail(s.error());
      const auto reading = gpu_.read_clocks();
      if (!reading) return fail(reading.error());
      lowest = std::min(lowest, reading->sm.value_or(lowest));
    }
    if (lowest >= table[table.size() - 2]) return table.back();
    const auto above = std::upper_bound(table.begin(), table.end(), lowest * kBelowLimit);
    return above == table.begin() ? table.front() : *std::prev(above);
  }

  Status time_changes(LatencyStudy& study) {
    TimePoint look = clock_->now();
    ProgressLine progress(quiet_);
    const std::size_t all = study.changes_left();
    while (!study.done()) {
      if (Status s = wait(study.next_due()); !s) return s;
      if (clock_->now() >= look) {
        if (Status ours = only_ours(true); !ours) return ours;
        look = clock_->now() + kOwnership;
        progress.show(all - std::min(all, study.changes_left()), all, "changes timed");
      }
      if (Status s = study.step(clock_->now(), *this); !s) return s;
    }
    return {};
  }

  const LatencyOptions& options_;
  LatencyTarget target_;
  OpenGpus& open_;
  device::Gpu& gpu_;
  std::shared_ptr<const Clock> clock_;
  wire::LeaseClient client_;
  conduct::LeaseHolder lease_;
  Interrupts& interrupts_;
  bool quiet_;
  std::optional<Load> load_;
  std::vector<Seconds> asking_;
};

}  // namespace

LatencyEnd conduct_latency(const LatencyOptions& options, const LatencyTarget& target, OpenGpus& open,
                           std::unique_ptr<wire::Channel> channel, conduct::Rescue rescue,
                           Interrupts& interrupts, bool quiet) {
  return Conductor(options, target, open, std::move(channel), std::move(rescue), interrupts, quiet).run();
}

}  // namespace rubato::cli
