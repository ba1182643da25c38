// The GPU's performance monitors (GPM) through NVML: two samples, and the means between them. Hopper and
// newer.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "core/feature_schema.h"
#include "device/nvml/device_calls.h"

namespace rubato::device::nvml {

/// What to do where the driver refuses counters for want of a right.
inline constexpr std::string_view kCounterRight =
    "run rubato as root ('sudo rubato ... --as-root'), or have the administrator put 'options nvidia "
    "NVreg_RestrictProfilingToAdminUsers=0' into /etc/modprobe.d/nvidia-profiling.conf and reload the driver";

/// A sample's memory, which belongs to the library.
class GpmSample {
 public:
  explicit GpmSample(std::shared_ptr<const Library> library) : library_(std::move(library)) {}
  ~GpmSample();
  GpmSample(const GpmSample&) = delete;
  GpmSample& operator=(const GpmSample&) = delete;

  /// Allocates at the first call; then fills it with the monitors of now.
  [[nodiscard]] abi::Return take(DeviceCalls& calls);
  [[nodiscard]] abi::GpmSample get() const { return sample_; }

 private:
  std::shared_ptr<const Library> library_;
  abi::GpmSample sample_ = nullptr;
};

class GpmReader {
 public:
  explicit GpmReader(std::shared_ptr<const Library> library);

  /// Means since the call before. No values, and the same beginning as end, at the first call and after the
  /// GPU was lost; no values where the monitors were not refreshed in between.
  [[nodiscard]] Answer<FeatureVector> read(DeviceCalls& calls, const Clock& clock);

 private:
  [[nodiscard]] abi::Return compute(DeviceCalls& calls, FeatureVector& features);

  std::unique_ptr<GpmSample> earlier_;
  std::unique_ptr<GpmSample> later_;
  std::unique_ptr<abi::GpmMetricsGet> request_;
  std::optional<TimePoint> taken_;  // the earlier one
  unsigned life_ = 0;               // DeviceCalls::found_again() when it was
};

}  // namespace rubato::device::nvml
