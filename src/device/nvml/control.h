// Changes one GPU through NVML: one setting call each, checked against the GPU's own range before the driver
// sees it.
#pragma once

#include <optional>
#include <vector>

#include "device/gpu.h"
#include "device/nvml/gpu.h"

namespace rubato::device::nvml {

class NvmlControl final : public GpuControl {
 public:
  explicit NvmlControl(const Handle& handle)
      : name_(handle.identity), calls_(handle.library, handle.device, handle.identity.id.uuid) {}

  [[nodiscard]] Status set_power_limit(Watts limit) override;
  [[nodiscard]] Status lock_sm_clock(ClockRange range) override;
  [[nodiscard]] Status reset_sm_clock() override;
  [[nodiscard]] Status lock_memory_clock(ClockRange range) override;
  [[nodiscard]] Status reset_memory_clock() override;
  [[nodiscard]] Status set_application_clocks(ApplicationClocks clocks) override;
  [[nodiscard]] Status reset_application_clocks() override;

 private:
  enum class Domain { sm, memory };
  /// The driver would round a clock that it does not have; we refuse it and name the nearest.
  [[nodiscard]] Status check_clock(Domain domain, Megahertz clock);
  [[nodiscard]] Status check_range(Domain domain, ClockRange range);
  [[nodiscard]] Answer<std::vector<unsigned>> list_clocks(Domain domain);
  [[nodiscard]] Status done(abi::Return code, std::string_view doing) const;

  GpuIdentity name_;
  DeviceCalls calls_;
  std::optional<std::vector<unsigned>> sm_clocks_;
  std::optional<std::vector<unsigned>> memory_clocks_;
};

}  // namespace rubato::device::nvml
