#include "guard/timed_gpu.h"

#include "base/clock.h"

namespace rubato::guard {
namespace {

/// Wall time, whatever clock the GPU lives on.
template <class Call>
auto timed_call(CallCost& cost, Call call) {
  const RealClock wall;
  const TimePoint begin = wall.now();
  auto result = call();
  cost.inside += wall.now() - begin;
  ++cost.calls;
  return result;
}

class TimedGpu final : public device::Gpu {
 public:
  TimedGpu(std::unique_ptr<device::Gpu> gpu, CallCost& cost) : gpu_(std::move(gpu)), cost_(cost) {}

  const GpuIdentity& identity() const override { return gpu_->identity(); }
  const Capabilities& capabilities() const override { return gpu_->capabilities(); }
  const SensorFacts& sensor() const override { return gpu_->sensor(); }
  Kind kind() const override { return gpu_->kind(); }
  Result<FastReading> read_fast() override {
    return timed_call(cost_, [&] { return gpu_->read_fast(); });
  }
  Result<SlowReading> read_slow() override {
    return timed_call(cost_, [&] { return gpu_->read_slow(); });
  }
  Result<ClockReading> read_clocks() override {
    return timed_call(cost_, [&] { return gpu_->read_clocks(); });
  }
  Result<PowerLimits> power_limits() override {
    return timed_call(cost_, [&] { return gpu_->power_limits(); });
  }
  Result<device::ClockTable> supported_clocks() override {
    return timed_call(cost_, [&] { return gpu_->supported_clocks(); });
  }
  Result<ApplicationClockReading> application_clocks() override {
    return timed_call(cost_, [&] { return gpu_->application_clocks(); });
  }
  Result<std::vector<ComputeProcess>> compute_processes() override {
    return timed_call(cost_, [&] { return gpu_->compute_processes(); });
  }
  Result<FeatureVector> read_counters() override {
    return timed_call(cost_, [&] { return gpu_->read_counters(); });
  }
  CallCost cost() const override { return gpu_->cost(); }

 private:
  std::unique_ptr<device::Gpu> gpu_;
  CallCost& cost_;
};

class TimedControl final : public device::GpuControl {
 public:
  TimedControl(std::unique_ptr<device::GpuControl> control, CallCost& cost)
      : control_(std::move(control)), cost_(cost) {}

  Status set_power_limit(Watts limit) override {
    return timed_call(cost_, [&] { return control_->set_power_limit(limit); });
  }
  Status lock_sm_clock(ClockRange range) override {
    return timed_call(cost_, [&] { return control_->lock_sm_clock(range); });
  }
  Status reset_sm_clock() override {
    return timed_call(cost_, [&] { return control_->reset_sm_clock(); });
  }
  Status lock_memory_clock(ClockRange range) override {
    return timed_call(cost_, [&] { return control_->lock_memory_clock(range); });
  }
  Status reset_memory_clock() override {
    return timed_call(cost_, [&] { return control_->reset_memory_clock(); });
  }
  Status set_application_clocks(ApplicationClocks clocks) override {
    return timed_call(cost_, [&] { return control_->set_application_clocks(clocks); });
  }
  Status reset_application_clocks() override {
    return timed_call(cost_, [&] { return control_->reset_application_clocks(); });
  }

 private:
  std::unique_ptr<device::GpuControl> control_;
  CallCost& cost_;
};

class TimedFiles final : public FileOps {
 public:
  TimedFiles(std::shared_ptr<FileOps> files, CallCost& cost) : files_(std::move(files)), cost_(cost) {}

  Status make_folder(const std::filesystem::path& path, mode_t mode) override {
    return timed_call(cost_, [&] { return files_->make_folder(path, mode); });
  }
  Result<ScopedFd> open_folder(const std::filesystem::path& path) override {
    return timed_call(cost_, [&] { return files_->open_folder(path); });
  }
  Status set_mode(int fd, mode_t mode) override {
    return timed_call(cost_, [&] { return files_->set_mode(fd, mode); });
  }
  Result<ScopedFd> open(int folder, const std::string& name, int flags, mode_t mode) override {
    return timed_call(cost_, [&] { return files_->open(folder, name, flags, mode); });
  }
  Result<FileFacts> facts(int fd) override {
    return timed_call(cost_, [&] { return files_->facts(fd); });
  }
  Result<std::vector<std::string>> list(int folder) override {
    return timed_call(cost_, [&] { return files_->list(folder); });
  }
  Result<std::string> read_all(int fd) override {
    return timed_call(cost_, [&] { return files_->read_all(fd); });
  }
  Status append(int fd, std::string_view bytes) override {
    return timed_call(cost_, [&] { return files_->append(fd, bytes); });
  }
  Status sync(int fd) override {
    return timed_call(cost_, [&] { return files_->sync(fd); });
  }
  Status truncate(int fd, std::uint64_t size) override {
    return timed_call(cost_, [&] { return files_->truncate(fd, size); });
  }
  Status rename(int folder, const std::string& from, const std::string& to) override {
    return timed_call(cost_, [&] { return files_->rename(folder, from, to); });
  }
  Status replace(int folder, const std::string& from, const std::string& to) override {
    return timed_call(cost_, [&] { return files_->replace(folder, from, to); });
  }
  Status remove(int folder, const std::string& name) override {
    return timed_call(cost_, [&] { return files_->remove(folder, name); });
  }
  Status lock(int fd) override {
    return timed_call(cost_, [&] { return files_->lock(fd); });
  }

 private:
  std::shared_ptr<FileOps> files_;
  CallCost& cost_;
};

}  // namespace

GpuFactory timed(GpuFactory open, CallCost& cost) {
  return [open = std::move(open), &cost](const GpuId& id) -> Result<OpenedGpu> {
    auto opened = timed_call(cost, [&] { return open(id); });
    if (!opened) return opened;
    return OpenedGpu{std::make_unique<TimedGpu>(std::move(opened->gpu), cost),
                     std::make_unique<TimedControl>(std::move(opened->control), cost)};
  };
}

std::function<std::string()> timed(std::function<std::string()> ask, CallCost& cost) {
  return [ask = std::move(ask), &cost] { return timed_call(cost, ask); };
}

std::shared_ptr<FileOps> timed(std::shared_ptr<FileOps> files, CallCost& cost) {
  return std::make_shared<TimedFiles>(std::move(files), cost);
}

}  // namespace rubato::guard
