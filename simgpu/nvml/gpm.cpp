// The performance monitors of Hopper and newer, as far as the physics knows them; earlier boards say what
// their drivers say.
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "simgpu/nvml/driver.h"
#include "simgpu/nvml/entry.h"

namespace rubato::simgpu {
namespace {

/// NVML API reference R520: the first that has them.
constexpr Driver kSince{520, 0};

struct Sample {
  unsigned gpu = 0;
  std::optional<sim::CounterTotals> totals;  // absent: never filled
};

/// A client may hand in anything for a sample; only what was given out is looked at.
class Samples {
 public:
  abi::GpmSample add() {
    const std::lock_guard lock(mutex_);
    samples_.push_back(std::make_unique<Sample>());
    return reinterpret_cast<abi::GpmSample>(samples_.back().get());
  }
  bool remove(abi::GpmSample handle) {
    const std::lock_guard lock(mutex_);
    return std::erase_if(samples_, [&](const auto& sample) { return sample.get() == pointer(handle); }) == 1;
  }
  bool put(abi::GpmSample handle, const Sample& filled) {
    const std::lock_guard lock(mutex_);
    for (const auto& sample : samples_)
      if (sample.get() == pointer(handle)) {
        *sample = filled;
        return true;
      }
    return false;
  }
  std::optional<Sample> get(abi::GpmSample handle) {
    const std::lock_guard lock(mutex_);
    for (const auto& sample : samples_)
      if (sample.get() == pointer(handle)) return *sample;
    return std::nullopt;
  }

 private:
  static const void* pointer(abi::GpmSample handle) { return reinterpret_cast<const void*>(handle); }
  std::mutex mutex_;
  std::vector<std::unique_ptr<Sample>> samples_;
};

Samples& samples() {
  static Samples given_out;
  return given_out;
}

bool has_monitors(const GpuView& view) {
  return view.profile().compute_major >= 9 && driver_of(view.world) >= kSince;
}

/// Percent of the stretch; absent: the physics knows no such unit.
std::optional<double> percent_of(const sim::CounterTotals& from, const sim::CounterTotals& to,
                                 unsigned metric) {
  const Seconds stretch = to.at - from.at;
  switch (metric) {
    case abi::kGpmSmActive:
      return (to.sm_active - from.sm_active) / stretch * 100;
    case abi::kGpmDram:
      return (to.dram_active - from.dram_active) / stretch * 100;
    default:
      return std::nullopt;
  }
}

}  // namespace

RUBATO_EXPORT abi::Return nvmlGpmQueryDeviceSupport(abi::Device device, abi::GpmSupport* support) {
  return on_gpu(__func__, device, {support}, [&](const GpuView& view) {
    if (support->version != abi::kGpmSupportVersion) return abi::kArgumentVersionMismatch;
    support->supported = has_monitors(view) ? 1 : 0;
    return abi::kSuccess;
  });
}

RUBATO_EXPORT abi::Return nvmlGpmSampleAlloc(abi::GpmSample* sample) {
  return in_session(__func__, {sample}, [&](sim::SimWorld&) {
    *sample = samples().add();
    return abi::kSuccess;
  });
}

RUBATO_EXPORT abi::Return nvmlGpmSampleFree(abi::GpmSample sample) {
  return in_session(__func__, {sample}, [&](sim::SimWorld&) {
    return samples().remove(sample) ? abi::kSuccess : abi::kInvalidArgument;
  });
}

RUBATO_EXPORT abi::Return nvmlGpmSampleGet(abi::Device device, abi::GpmSample sample) {
  return on_gpu(__func__, device, {sample}, [&](const GpuView& view) {
    if (!has_monitors(view)) return abi::kNotSupported;
    const auto totals = view.world.read_counters(view.gpu, view.now);
    if (!totals) return to_return(totals.error());
    return samples().put(sample, {view.gpu, *totals}) ? abi::kSuccess : abi::kInvalidArgument;
  });
}

RUBATO_EXPORT abi::Return nvmlGpmMetricsGet(abi::GpmMetricsGet* request) {
  return in_session(__func__, {request}, [&](sim::SimWorld&) {
    if (request->version != abi::kGpmMetricsGetVersion) return abi::kArgumentVersionMismatch;
    const auto earlier = samples().get(request->earlier);
    const auto later = samples().get(request->later);
    if (request->count > abi::kGpmMetricRoom || !earlier || !later || !earlier->totals || !later->totals ||
        earlier->gpu != later->gpu || later->totals->at <= earlier->totals->at)
      return abi::kInvalidArgument;
    for (unsigned i = 0; i < request->count; ++i) {
      abi::GpmMetric& metric = request->metrics[i];
      const auto percent = percent_of(*earlier->totals, *later->totals, metric.id);
      metric.result = percent ? abi::kSuccess : abi::kNotSupported;
      metric.value = percent.value_or(0);
      metric.short_name = metric.long_name = metric.unit = nullptr;
    }
    return abi::kSuccess;
  });
}

}  // namespace rubato::simgpu
