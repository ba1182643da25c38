#include "device/replay/gpu_view.h"

#include "base/text.h"
#include "device/replay/board.h"
#include "device/timed_call.h"

namespace rubato::device::replay {
namespace {

// A table has no sensor that would set the pace; this is the pace of most boards' (arXiv 2312.02741).
constexpr Seconds kReadingPeriod{0.1};

Capabilities capabilities_of(const ReplayWorld& world, unsigned gpu) {
  const Board& board = world.board(gpu);
  const std::string why = world.why_may_not_set();
  const auto settable = [&](Knob knob) {
    if (const std::string lacks = board.why_not(knob); !lacks.empty()) return Capability::no(lacks);
    return why.empty() ? Capability::yes() : Capability::forbidden(why);
  };
  const auto untold = [](std::string_view what) {
    return Capability::no(cat("a table of measurements does not tell ", what));
  };
  Capabilities out;
  out.read_power = out.read_energy_counter = out.read_processes = Capability::yes();
  out.read_clocks =
      board.sm_clock(board.default_knobs()) ? Capability::yes() : untold("which clock is reached");
  out.read_utilisation = untold("utilisation");
  out.read_limiter = untold("why a clock is low");
  out.read_limiter_times = untold("for how long a clock was held back");
  out.read_average_power = untold("a sensor's own mean");
  out.read_module_power = untold("the power of a module");
  out.read_memory_power = untold("the power of the memory");
  out.read_counters = untold("what the GPU's units did");
  out.read_application_clocks = Capability::no(board.why_not(Knob::application_clocks));
  out.set_power_limit = settable(Knob::power_limit);
  out.set_sm_clock = settable(Knob::sm_clock);
  out.set_memory_clock = settable(Knob::memory_clock);
  out.set_application_clocks = settable(Knob::application_clocks);
  return out;
}

SensorFacts sensor_of(const Board& board) {
  SensorFacts out;
  out.update_period = out.counter_period = kReadingPeriod;
  out.calibration_band = 0.0;
  out.source =
      cat("a table of measurements in place of a sensor: energy is exact at every reading, and "
          "counts only while work runs, as the table tells of no other power",
          board.default_assumed() ? "; its default row is assumed" : "");
  return out;
}

class ReplayGpu final : public Gpu {
 public:
  ReplayGpu(std::shared_ptr<ReplayWorld> world, unsigned gpu)
      : world_(std::move(world)),
        gpu_(gpu),
        capabilities_(capabilities_of(*world_, gpu)),
        sensor_(sensor_of(world_->board(gpu))) {
    static_cast<void>(read());
  }

  const GpuIdentity& identity() const override { return world_->identity(gpu_); }
  const Capabilities& capabilities() const override { return capabilities_; }
  const SensorFacts& sensor() const override { return sensor_; }
  Kind kind() const override {
    // The call cannot fail; where the world does not answer, what was last seen holds.
    const Result<Reading> now = world_->read(gpu_, world_->clock()->now());
    return now ? now->kind : kind_;
  }
  CallCost cost() const override { return cost_; }

  Result<FastReading> read_fast() override {
    return read().map([](const Reading& r) {
      FastReading out;
      out.at = r.at;
      out.power = r.power;
      out.energy_counter = r.energy;
      return out;
    });
  }

  Result<SlowReading> read_slow() override {
    return read().map([](const Reading& r) {
      SlowReading out;
      out.at = r.at;
      out.sm_clock = r.sm_clock;
      out.memory_clock = r.memory_clock;
      if (r.limits) {
        out.requested_limit = r.limits->requested;
        out.enforced_limit = r.limits->enforced;
      }
      return out;
    });
  }

  Result<PowerLimits> power_limits() override {
    const Result<Reading> r = read();
    if (!r) return fail(r.error());
    if (!r->limits)
      return fail(ErrorCode::not_supported,
                  cat(identity().name, ": ", world_->board(gpu_).why_not(Knob::power_limit)));
    return *r->limits;
  }

  Result<ClockTable> supported_clocks() override {
    const Board& board = world_->board(gpu_);
    if (board.sm_clocks().empty() && board.memory_clocks().empty())
      return fail(ErrorCode::not_supported, cat(identity().name, ": the table names no clock"));
    ClockTable table{.sm = board.sm_clocks(), .memory = board.memory_clocks(), .pairs = {}};
    for (const Megahertz memory : table.memory) table.pairs.push_back({memory, table.sm});
    return table;
  }

  Result<std::vector<ComputeProcess>> compute_processes() override {
    return timed_call(cost_, [&] { return world_->read_processes(gpu_, world_->clock()->now()); });
  }

 private:
  Result<Reading> read() {
    Result<Reading> r = timed_call(cost_, [&] { return world_->read(gpu_, world_->clock()->now()); });
    if (r) kind_ = r->kind;
    return r;
  }

  std::shared_ptr<ReplayWorld> world_;
  unsigned gpu_;
  Capabilities capabilities_;
  SensorFacts sensor_;
  CallCost cost_;
  Kind kind_ = Kind::interpolated;  // until it answered once: the less direct one claims less
};

class ReplayControl final : public GpuControl {
 public:
  ReplayControl(std::shared_ptr<ReplayWorld> world, unsigned gpu) : world_(std::move(world)), gpu_(gpu) {}

  Status set_power_limit(Watts limit) override { return world_->set_power_limit(gpu_, limit, now()); }
  Status lock_sm_clock(ClockRange range) override { return world_->lock_sm_clock(gpu_, range, now()); }
  Status reset_sm_clock() override { return world_->reset_sm_clock(gpu_, now()); }
  Status lock_memory_clock(ClockRange range) override {
    return world_->lock_memory_clock(gpu_, range, now());
  }
  Status reset_memory_clock() override { return world_->reset_memory_clock(gpu_, now()); }
  Status set_application_clocks(ApplicationClocks) override { return no_application_clocks(); }
  Status reset_application_clocks() override { return no_application_clocks(); }

 private:
  [[nodiscard]] TimePoint now() const { return world_->clock()->now(); }
  [[nodiscard]] Status no_application_clocks() const {
    return fail(ErrorCode::not_supported, cat(world_->identity(gpu_).name, ": ",
                                              world_->board(gpu_).why_not(Knob::application_clocks)));
  }
  std::shared_ptr<ReplayWorld> world_;
  unsigned gpu_;
};

}  // namespace

std::unique_ptr<Gpu> make_gpu(std::shared_ptr<ReplayWorld> world, unsigned index) {
  return std::make_unique<ReplayGpu>(std::move(world), index);
}

std::unique_ptr<GpuControl> make_control(std::shared_ptr<ReplayWorld> world, unsigned index) {
  return std::make_unique<ReplayControl>(std::move(world), index);
}

}  // namespace rubato::device::replay
