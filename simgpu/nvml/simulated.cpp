// What tells rubato that it is not looking at hardware, and tests what really was. The real library has none
// of these.
#include <string>

#include "simgpu/nvml/entry.h"

namespace rubato::simgpu {

RUBATO_EXPORT int rubatoSimulatedClock(double* rate, long long* origin_ns) {
  const auto here = world_or_open();
  if (here == nullptr || rate == nullptr || origin_ns == nullptr) return -1;
  const auto clock = here->clock();
  const auto* scaled = dynamic_cast<const ScaledClock*>(clock.get());
  if (scaled == nullptr) return -1;
  *rate = scaled->rate();
  *origin_ns = scaled->origin().ns;
  return 0;
}

RUBATO_EXPORT int rubatoSimulatedOutlivesJob() {
  const auto here = world_or_open();
  return here != nullptr && here->scenario().outlives_job ? 1 : 0;
}

RUBATO_EXPORT const char* rubatoSimulatedWorld() {
  thread_local std::string path;
  const auto here = world_or_open();
  if (here == nullptr) return nullptr;
  path = here->path().string();
  return path.c_str();  // NOLINT(clang-analyzer-cplusplus.InnerPointer): it lives as long as the thread
}

RUBATO_EXPORT int rubatoSimulatedRights() {
  const auto here = world_or_open();
  if (here == nullptr) return abi::kSimulatedRightsNone;
  switch (here->rights()) {
    case sim::Rights::owner:
      return abi::kSimulatedRightsOwner;
    case sim::Rights::cap_sys_admin:
      return abi::kSimulatedRightsCapSysAdmin;
    case sim::Rights::none:
      return abi::kSimulatedRightsNone;
  }
  return abi::kSimulatedRightsNone;
}

// Joules since the world began, without sensor: what every measured energy is an estimate of.
RUBATO_EXPORT int rubatoSimulatedEnergy(unsigned gpu, double* joules) {
  const auto here = world_or_open();
  if (here == nullptr || joules == nullptr || gpu >= here->gpu_count()) return -1;
  const auto truth = here->truth(gpu, here->clock()->now());
  if (!truth) return -1;
  *joules = truth->energy.value();
  return 0;
}

// The SM clock lock in force, which the driver has no read-out for: 1 and the range, 0 where there is none.
RUBATO_EXPORT int rubatoSimulatedSmLock(unsigned gpu, double* min_mhz, double* max_mhz) {
  const auto here = world_or_open();
  if (here == nullptr || min_mhz == nullptr || max_mhz == nullptr || gpu >= here->gpu_count()) return -1;
  const auto truth = here->truth(gpu, here->clock()->now());
  if (!truth) return -1;
  if (!truth->sm_lock) return 0;
  *min_mhz = truth->sm_lock->min.value();
  *max_mhz = truth->sm_lock->max.value();
  return 1;
}

}  // namespace rubato::simgpu
