// A driver's library that plays what no machine at hand has: one GPU, told by plain data that the test
// changes. Built once per era (see CMakeLists.txt), because what an era lacks is a symbol.
#pragma once

#include "device/nvml/abi.h"

namespace rubato::device::nvml::fake {

struct Field {
  unsigned id = 0;
  unsigned scope = 0;
  double value = 0;  // written as an integer
};

struct Metric {
  unsigned id = 0;
  double value = 0;
  abi::Return result = abi::kSuccess;
};

struct State {
  abi::Return init = abi::kSuccess;
  int inits = 0;
  int shutdowns = 0;
  const char* driver_version = "535.183.01";

  abi::Return gpu = abi::kSuccess;  // what every call on the GPU answers, where not success
  int calls_until_lost = -1;        // then kGpuIsLost; negative: never
  bool reset = false;               // somebody reset the GPU: no session until the next nvmlInit
  int lookups = 0;                  // of handles by UUID
  int stale_handles = 0;            // calls with a handle of an earlier session
  int setting_calls = 0;

  abi::Return architecture_result = abi::kSuccess;
  unsigned architecture = abi::kArchVolta;
  int chip_major = 7;
  int chip_minor = 0;
  unsigned mig = 0;
  int virtualization = 0;

  Field fields[24] = {};  // a field that is not here answers not-supported; id 0 ends the list
  bool ignores_scopes = false;
  bool refuses_unknown_fields = false;  // the whole list, as one call
  int field_calls = 0;
  abi::Return power_usage_result = abi::kSuccess;
  unsigned power_usage_mw = 101'000;
  abi::Return counter_result = abi::kSuccess;
  unsigned long long counter_mj = 5'000'000;
  unsigned requested_mw = 250'000;
  unsigned enforced_mw = 240'000;

  unsigned application_memory = 877;
  unsigned application_sm = 1200;
  unsigned long long held_back_ns[2] = {3'000'000'000, 1'000'000'000};  // power, thermal
  abi::Return low_memory_clock_result = abi::kSuccess;                  // of the SM clocks at 405 MHz
  int resets_of_application_clocks = 0;

  bool monitors = false;  // GPM: a GPU that has them
  abi::Return sample_result = abi::kSuccess;
  abi::Return metrics_result = abi::kSuccess;
  Metric metrics[16] = {};  // what is not here answers not-supported; id 0 ends the list
  int samples_allocated = 0;
  int samples_freed = 0;
  int samples_taken = 0;
  int metric_calls = 0;

  unsigned compute_pids[4] = {};  // 0 ends a list
  unsigned mps_pids[4] = {};
};

/// Exported as "fake_nvml_state".
using GetState = State*();

}  // namespace rubato::device::nvml::fake
