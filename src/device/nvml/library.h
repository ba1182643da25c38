// One loaded NVML: the symbols rubato calls, each of which an older driver may lack, and the initialised
// session.
#pragma once

#include <atomic>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>

#include "base/call_count.h"
#include "base/fs_root.h"
#include "base/result.h"
#include "device/nvml/abi.h"

namespace rubato::device::nvml {

namespace library_detail {
struct Found {
  void* address;
  const char* name;
};
/// The first of `names` that the library has; else a null address and the first name.
[[nodiscard]] Found find_symbol(void* library, std::initializer_list<const char*> names);
}  // namespace library_detail

/// A C function that may be missing, and then answers NVML_ERROR_FUNCTION_NOT_FOUND.
template <class Signature>
class Function;

template <class R, class... Args>
class Function<R(Args...)> {
 public:
  Function(void* library, std::initializer_list<const char*> names) {
    const auto found = library_detail::find_symbol(library, names);
    function_ = reinterpret_cast<R (*)(Args...)>(found.address);
    name_ = found.name;
  }
  [[nodiscard]] bool exists() const { return function_ != nullptr; }
  [[nodiscard]] const char* name() const { return name_; }
  R operator()(Args... args) const {
    if (function_ == nullptr) {
      if constexpr (std::is_pointer_v<R>)
        return nullptr;
      else
        return abi::kFunctionNotFound;
    }
    note_call();
    return function_(args...);
  }

 private:
  R (*function_)(Args...) = nullptr;
  const char* name_ = "";
};

class Functions {
  void* library_;  // first, because every member below looks itself up in it

 public:
  explicit Functions(void* library) : library_(library) {}

  Function<abi::Plain> init{library_, {"nvmlInit_v2", "nvmlInit"}};
  Function<abi::Plain> shutdown{library_, {"nvmlShutdown"}};
  Function<abi::GetText> driver_version{library_, {"nvmlSystemGetDriverVersion"}};
  Function<abi::GetText> library_version{library_, {"nvmlSystemGetNVMLVersion"}};
  Function<abi::GetNumber> count{library_, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}};
  Function<abi::HandleByIndex> handle_by_index{
      library_, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}};
  Function<abi::HandleByName> handle_by_uuid{library_, {"nvmlDeviceGetHandleByUUID"}};

  Function<abi::DeviceText> name{library_, {"nvmlDeviceGetName"}};
  Function<abi::DeviceText> uuid{library_, {"nvmlDeviceGetUUID"}};
  Function<abi::DevicePci> pci{library_, {"nvmlDeviceGetPciInfo_v3"}};
  // Fills less of the structure: bus_id stays empty, bus_id_legacy is there.
  Function<abi::DevicePci> pci_legacy{library_, {"nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"}};
  Function<abi::DeviceNumber> architecture{library_, {"nvmlDeviceGetArchitecture"}};
  Function<abi::DeviceTwoInts> compute_capability{library_, {"nvmlDeviceGetCudaComputeCapability"}};
  Function<abi::DeviceTwoNumbers> mig_mode{library_, {"nvmlDeviceGetMigMode"}};
  Function<abi::DeviceInt> virtualization{library_, {"nvmlDeviceGetVirtualizationMode"}};

  Function<abi::DeviceFields> fields{library_, {"nvmlDeviceGetFieldValues"}};
  Function<abi::DeviceNumber> power{library_, {"nvmlDeviceGetPowerUsage"}};
  Function<abi::DeviceLong> energy{library_, {"nvmlDeviceGetTotalEnergyConsumption"}};
  Function<abi::DeviceKindNumber> clock{library_, {"nvmlDeviceGetClockInfo"}};
  Function<abi::DeviceMemoryClocks> memory_clocks{library_, {"nvmlDeviceGetSupportedMemoryClocks"}};
  Function<abi::DeviceGraphicsClocks> graphics_clocks{library_, {"nvmlDeviceGetSupportedGraphicsClocks"}};
  Function<abi::DeviceUtilization> utilization{library_, {"nvmlDeviceGetUtilizationRates"}};
  Function<abi::DeviceKindNumber> temperature{library_, {"nvmlDeviceGetTemperature"}};
  Function<abi::DeviceTemperature> temperature_v1{library_, {"nvmlDeviceGetTemperatureV"}};
  Function<abi::DeviceNumber> performance_state{library_, {"nvmlDeviceGetPerformanceState"}};
  Function<abi::DeviceLong> limiter{
      library_, {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}};
  Function<abi::DeviceViolation> violation{library_, {"nvmlDeviceGetViolationStatus"}};
  Function<abi::DeviceProcesses> processes{
      library_, {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}};
  Function<abi::DeviceProcessesV1> processes_v1{library_, {"nvmlDeviceGetComputeRunningProcesses"}};
  Function<abi::DeviceProcesses> mps_processes{
      library_, {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2"}};

  Function<abi::DeviceNumber> requested_limit{library_, {"nvmlDeviceGetPowerManagementLimit"}};
  Function<abi::DeviceNumber> default_limit{library_, {"nvmlDeviceGetPowerManagementDefaultLimit"}};
  Function<abi::DeviceNumber> enforced_limit{library_, {"nvmlDeviceGetEnforcedPowerLimit"}};
  Function<abi::DeviceTwoNumbers> limit_range{library_, {"nvmlDeviceGetPowerManagementLimitConstraints"}};
  Function<abi::DeviceKindNumber> application_clock{library_, {"nvmlDeviceGetApplicationsClock"}};
  Function<abi::DeviceKindNumber> default_application_clock{library_,
                                                            {"nvmlDeviceGetDefaultApplicationsClock"}};

  Function<abi::GpmQuery> gpm_support{library_, {"nvmlGpmQueryDeviceSupport"}};
  Function<abi::GpmAlloc> gpm_alloc{library_, {"nvmlGpmSampleAlloc"}};
  Function<abi::GpmFree> gpm_free{library_, {"nvmlGpmSampleFree"}};
  Function<abi::GpmTake> gpm_take{library_, {"nvmlGpmSampleGet"}};
  Function<abi::GpmMetrics> gpm_metrics{library_, {"nvmlGpmMetricsGet"}};

  Function<abi::SetNumber> set_limit{library_, {"nvmlDeviceSetPowerManagementLimit"}};
  Function<abi::SetTwoNumbers> lock_sm{library_, {"nvmlDeviceSetGpuLockedClocks"}};
  Function<abi::DeviceReset> reset_sm{library_, {"nvmlDeviceResetGpuLockedClocks"}};
  Function<abi::SetTwoNumbers> lock_memory{library_, {"nvmlDeviceSetMemoryLockedClocks"}};
  Function<abi::DeviceReset> reset_memory{library_, {"nvmlDeviceResetMemoryLockedClocks"}};
  Function<abi::SetTwoNumbers> set_application{library_, {"nvmlDeviceSetApplicationsClocks"}};
  Function<abi::DeviceReset> reset_application{library_, {"nvmlDeviceResetApplicationsClocks"}};

  // Present only in the stand-in.
  Function<abi::SimulatedClock> simulated_clock{library_, {"rubatoSimulatedClock"}};
  Function<abi::SimulatedOutlivesJob> simulated_outlives_job{library_, {"rubatoSimulatedOutlivesJob"}};
  Function<abi::SimulatedWorld> simulated_world{library_, {"rubatoSimulatedWorld"}};
  Function<abi::SimulatedRights> simulated_rights{library_, {"rubatoSimulatedRights"}};
};

/// Initialised for as long as it lives: the driver forgets settings when its last client leaves.
class Library {
 public:
  /// `root`: where the version of the kernel's half of the driver is looked up, for an error's words.
  [[nodiscard]] static Result<std::shared_ptr<const Library>> load(const std::string& file,
                                                                   const FsRoot& root);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] const Functions& nvml() const { return functions_; }

  /// Counts the times NVML was initialised; handles of an earlier session are void.
  [[nodiscard]] unsigned session() const { return session_; }
  /// Initialises NVML again where it says it is not, unless somebody did since `seen`. Thread-safe.
  bool start_again(unsigned seen) const;

 private:
  explicit Library(void* handle) : handle_(handle), functions_(handle) {}

  void* handle_;
  Functions functions_;
  bool initialised_ = false;
  mutable std::mutex starting_;
  mutable std::atomic<unsigned> session_ = 0;
};

}  // namespace rubato::device::nvml
