// A GPU in memory with numbered steps: every file operation and driver call counts, any of them can fail, and
// after any of them everything can stop having an effect, which is what a killed process looks like from
// outside.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "device/gpu.h"
#include "guard/files.h"
#include "guard/opened_gpu.h"

namespace rubato::guard::fake {

struct Lock {
  bool on = false;
  double min = 0;
  double max = 0;
  bool operator==(const Lock&) const = default;
};

struct Pair {
  double memory = 0;
  double sm = 0;
  bool operator==(const Pair&) const = default;
};

/// Plain data, so that it can stand in memory shared between processes.
struct State {
  double min = 100;
  double max = 250;
  double requested = 200;
  double quietly_at_least = 0;  // the driver takes less and sets this
  Lock sm;
  Lock memory;
  Pair application = {877, 1200};
  Pair application_default = {877, 1380};
  int application_resets = 0;
  double energy_j = 1000;
  std::pair<int, double> absurd_energy = {0, 0};  // so many readings of the counter tell this
  double cap = 0;            // a controller outside the driver enforces no more than this; 0: none
  std::int64_t process = 0;  // that computes there; 0: none
  int process_lists = 0;     // so many lists of the driver name it, then it has ended; 0: all do
  bool tells_application_clocks = false;
  bool mig = false;
  bool refuses_limits = false;
  int writes = 0;
  bool illegal = false;  // a write outside what the GPU can do was tried
};

struct Steps {
  int taken = 0;
  int crash_at = -1;
  int driver_calls = 0;
  int fail_driver_at = -1;
  int file_writes = 0;
  int fail_file_from = -1;
  double torn_share = 0;  // of the bytes of an append at which everything stops
  ErrorCode failure = ErrorCode::timeout;
  bool dead = false;

  /// False from the crash on: nothing has an effect any more.
  bool alive() {
    if (crash_at >= 0 && taken++ >= crash_at) dead = true;
    return !dead;
  }
  Status driver(bool writes) {
    const bool fails = driver_calls++ == fail_driver_at;
    if (writes ? !alive() : dead) return fail(ErrorCode::internal, "the process is dead");
    if (fails) return fail(failure, "the driver call fails");
    return {};
  }
};

class Gpu final : public device::Gpu {
 public:
  Gpu(GpuId id, State& state, Steps& steps) : state_(state), steps_(steps) {
    identity_.id = std::move(id);
    if (state.tells_application_clocks) capabilities_.read_application_clocks = Capability::yes();
    const Capability whole = state.mig ? Capability::no("MIG is on") : Capability::yes();
    capabilities_.set_power_limit = capabilities_.set_sm_clock = whole;
    capabilities_.set_memory_clock = capabilities_.set_application_clocks = whole;
  }

  const GpuIdentity& identity() const override { return identity_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  const SensorFacts& sensor() const override { return sensor_; }
  Kind kind() const override { return Kind::modelled; }
  Result<FastReading> read_fast() override {
    if (const Status s = steps_.driver(false); !s) return fail(s.error());
    const bool absurd = state_.absurd_energy.first > 0 && state_.absurd_energy.first-- > 0;
    return FastReading{.energy_counter = Joules(absurd ? state_.absurd_energy.second : state_.energy_j)};
  }
  Result<SlowReading> read_slow() override { return SlowReading{}; }
  Result<PowerLimits> power_limits() override {
    if (const Status s = steps_.driver(false); !s) return fail(s.error());
    const double enforced = state_.cap > 0 ? std::min(state_.cap, state_.requested) : state_.requested;
    return PowerLimits{Watts(state_.min), Watts(state_.max), Watts(state_.max), Watts(state_.requested),
                       Watts(enforced)};
  }
  Result<device::ClockTable> supported_clocks() override {
    return device::ClockTable{
        {135_MHz, 900_MHz, 1005_MHz, 1200_MHz, 1380_MHz},
        {877_MHz, 1215_MHz},
        {{877_MHz, {135_MHz, 900_MHz, 1005_MHz, 1200_MHz, 1380_MHz}}, {1215_MHz, {1005_MHz}}}};
  }
  Result<ApplicationClockReading> application_clocks() override {
    if (const Status s = steps_.driver(false); !s) return fail(s.error());
    const auto clocks = [](const Pair& p) { return ApplicationClocks{Megahertz(p.memory), Megahertz(p.sm)}; };
    return ApplicationClockReading{clocks(state_.application), clocks(state_.application_default)};
  }
  Result<std::vector<ComputeProcess>> compute_processes() override {
    if (state_.process == 0) return std::vector<ComputeProcess>();
    const std::int64_t pid = state_.process;
    if (state_.process_lists > 0 && --state_.process_lists == 0) state_.process = 0;
    return std::vector<ComputeProcess>{{.pid = pid}};
  }
  CallCost cost() const override { return {}; }

 private:
  State& state_;
  Steps& steps_;
  GpuIdentity identity_;
  Capabilities capabilities_;
  SensorFacts sensor_;
};

class Control final : public device::GpuControl {
 public:
  Control(State& state, Steps& steps) : state_(state), steps_(steps) {}

  Status set_power_limit(Watts limit) override {
    return write([&] {
      if (limit.value() < state_.min || limit.value() > state_.max) {
        state_.illegal = true;
        return Status(fail(ErrorCode::invalid_argument, "the limit is outside the range"));
      }
      if (state_.refuses_limits) return Status(fail(ErrorCode::internal, "the driver refuses"));
      state_.requested = std::max(limit.value(), state_.quietly_at_least);
      return Status();
    });
  }
  Status lock_sm_clock(ClockRange range) override { return lock(state_.sm, range); }
  Status reset_sm_clock() override { return reset(state_.sm); }
  Status lock_memory_clock(ClockRange range) override { return lock(state_.memory, range); }
  Status reset_memory_clock() override { return reset(state_.memory); }
  Status set_application_clocks(ApplicationClocks clocks) override {
    return write([&] {
      if (clocks.memory == 1215_MHz && clocks.sm != 1005_MHz) state_.illegal = true;
      state_.application = {clocks.memory.value(), clocks.sm.value()};
      return Status();
    });
  }
  Status reset_application_clocks() override {
    return write([&] {
      ++state_.application_resets;
      state_.application = state_.application_default;
      return Status();
    });
  }

 private:
  template <class Effect>
  Status write(Effect effect) {
    if (Status s = steps_.driver(true); !s) return s;
    ++state_.writes;
    return effect();
  }
  Status lock(Lock& target, ClockRange range) {
    return write([&] {
      if (range.min > range.max) state_.illegal = true;
      target = {true, range.min.value(), range.max.value()};
      return Status();
    });
  }
  Status reset(Lock& target) {
    return write([&] {
      target = {};
      return Status();
    });
  }

  State& state_;
  Steps& steps_;
};

/// Real files, counted.
class Files final : public FileOps {
 public:
  explicit Files(std::shared_ptr<Steps> steps) : steps_(std::move(steps)) {}

  Result<ScopedFd> open(int folder, const std::string& name, int flags, mode_t mode) override {
    if (!steps_->alive()) return dead();
    return FileOps::open(folder, name, flags, mode);
  }
  Status append(int fd, std::string_view bytes) override {
    const bool was_dead = steps_->dead;
    if (!steps_->alive()) {
      const auto part = static_cast<std::size_t>(steps_->torn_share * static_cast<double>(bytes.size()));
      if (!was_dead) (void)FileOps::append(fd, bytes.substr(0, part));
      return dead();
    }
    if (steps_->fail_file_from >= 0 && steps_->file_writes++ >= steps_->fail_file_from) {
      (void)FileOps::append(fd, bytes.substr(0, bytes.size() / 2));
      return fail(ErrorCode::io, "no space left on device");
    }
    return FileOps::append(fd, bytes);
  }
  // A killed process loses nothing that it wrote, so the disk is left in peace.
  Status sync(int) override { return gate(Status()); }
  Status truncate(int fd, std::uint64_t size) override {
    return steps_->alive() ? FileOps::truncate(fd, size) : Status(dead());
  }
  Status rename(int folder, const std::string& from, const std::string& to) override {
    return steps_->alive() ? FileOps::rename(folder, from, to) : Status(dead());
  }
  Status replace(int folder, const std::string& from, const std::string& to) override {
    return steps_->alive() ? FileOps::replace(folder, from, to) : Status(dead());
  }
  Status remove(int folder, const std::string& name) override {
    return steps_->alive() ? FileOps::remove(folder, name) : Status(dead());
  }
  Status lock(int fd) override { return steps_->alive() ? FileOps::lock(fd) : Status(dead()); }

 private:
  static tl::unexpected<Error> dead() { return fail(ErrorCode::internal, "the process is dead"); }
  Status gate(Status status) {
    if (!steps_->alive()) status = dead();
    return status;
  }

  std::shared_ptr<Steps> steps_;
};

}  // namespace rubato::guard::fake
