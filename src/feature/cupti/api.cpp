#include "feature/cupti/api.h"

#include "base/text.h"

namespace rubato::feature::cupti {

Error refusal(int code, std::string_view call) {
  const std::string what = cat(call, " answers ", code, ": ");
  switch (code) {
    case abi::kInsufficientPrivileges:
    case abi::kVirtualDevicePrivileges:
      return {ErrorCode::no_permission, what + "reading counters is for administrators on this machine",
              "run rubato as root with --as-root, or load the nvidia module with "
              "NVreg_RestrictProfilingToAdminUsers=0"};
    case abi::kHardwareBusy:
    case abi::kInvalidOperation:
      return {ErrorCode::busy, what + "somebody else samples this GPU's counters",
              "end Nsight or the job's own profiler; 'dcgmi profile --pause' where DCGM collects"};
    case abi::kNotSupported:
      return {ErrorCode::not_supported, what + "this GPU, driver or CUPTI has no PM sampling"};
    case abi::kVirtualDevice:
    case abi::kConfidentialComputing:
    case abi::kMigDevice:
      return {ErrorCode::not_supported,
              what + "a virtual, confidential or MIG-divided GPU does not let its counters be sampled"};
    case abi::kNotInitialized:
      return {ErrorCode::unavailable, what + "libnvperf_host.so and libnvperf_target.so could not be loaded",
              "they belong beside libcupti.so"};
    default:
      return {ErrorCode::unavailable, what + "CUPTI refuses"};
  }
}

}  // namespace rubato::feature::cupti
