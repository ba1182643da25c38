#include <algorithm>
#include <cmath>
#include <vector>

#include "simgpu/nvml/entry.h"
#include "simgpu/nvml/units.h"

namespace rubato::simgpu {
namespace {

using sim::CallId;
using sim::Readout;

/// The driver rounds what it is asked for to a clock it has.
Megahertz nearest(const std::vector<Megahertz>& clocks, unsigned mhz) {
  const auto distance = [&](Megahertz f) { return std::abs(f.value() - mhz); };
  return *std::min_element(clocks.begin(), clocks.end(),
                           [&](Megahertz a, Megahertz b) { return distance(a) < distance(b); });
}

ClockRange rounded(const std::vector<Megahertz>& clocks, unsigned low, unsigned high) {
  return {nearest(clocks, low), nearest(clocks, high)};
}

abi::Return current_clock(const Readout& readout, int kind, unsigned* mhz) {
  if (kind == abi::kClockVideo) return abi::kNotSupported;
  if (kind < abi::kClockGraphics || kind > abi::kClockVideo) return abi::kInvalidArgument;
  *mhz = megahertz(kind == abi::kClockMemory ? readout.memory_clock : readout.sm_clock);
  return abi::kSuccess;
}

abi::Return highest_clock(const sim::Profile& profile, int kind, unsigned* mhz) {
  if (kind == abi::kClockVideo) return abi::kNotSupported;
  if (kind < abi::kClockGraphics || kind > abi::kClockVideo) return abi::kInvalidArgument;
  *mhz = megahertz(kind == abi::kClockMemory ? profile.memory_clocks.back() : profile.sm_clocks.back());
  return abi::kSuccess;
}

abi::Return application_clock(const GpuView& view, const Readout& readout, int kind, bool by_default,
                              unsigned* mhz) {
  if (!view.profile().has_application_clocks) return abi::kNotSupported;
  const ApplicationClocks clocks =
      by_default ? readout.default_application_clocks
                 : readout.application_clocks.value_or(readout.default_application_clocks);
  *mhz = megahertz(kind == abi::kClockMemory ? clocks.memory : clocks.sm);
  return abi::kSuccess;
}

/// Highest first, as the driver lists them.
abi::Return copy_clocks(const std::vector<Megahertz>& clocks, unsigned* count, unsigned* mhz) {
  const bool fits = mhz != nullptr && *count >= clocks.size();
  *count = static_cast<unsigned>(clocks.size());
  if (!fits) return abi::kInsufficientSize;
  std::transform(clocks.rbegin(), clocks.rend(), mhz, megahertz);
  return abi::kSuccess;
}

}  // namespace

RUBATO_EXPORT abi::Return nvmlDeviceGetClockInfo(abi::Device device, int kind, unsigned* mhz) {
  return read_into(
      __func__, device, CallId::read_clocks, mhz,
      [&](const GpuView&, const Readout& r, unsigned* out) { return current_clock(r, kind, out); });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetMaxClockInfo(abi::Device device, int kind, unsigned* mhz) {
  return on_gpu(__func__, device, {mhz},
                [&](const GpuView& view) { return highest_clock(view.profile(), kind, mhz); });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetApplicationsClock(abi::Device device, int kind, unsigned* mhz) {
  return read_into(__func__, device, CallId::read_clocks, mhz,
                   [&](const GpuView& view, const Readout& r, unsigned* out) {
                     return application_clock(view, r, kind, false, out);
                   });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetDefaultApplicationsClock(abi::Device device, int kind, unsigned* mhz) {
  return read_into(__func__, device, CallId::read_clocks, mhz,
                   [&](const GpuView& view, const Readout& r, unsigned* out) {
                     return application_clock(view, r, kind, true, out);
                   });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetClock(abi::Device device, int kind, int id, unsigned* mhz) {
  return read_into(__func__, device, CallId::read_clocks, mhz,
                   [&](const GpuView& view, const Readout& r, unsigned* out) {
                     switch (id) {
                       case abi::kClockIdCurrent:
                         return current_clock(r, kind, out);
                       case abi::kClockIdApplicationTarget:
                         return application_clock(view, r, kind, false, out);
                       case abi::kClockIdApplicationDefault:
                         return application_clock(view, r, kind, true, out);
                       case abi::kClockIdBoostMax:
                         return highest_clock(view.profile(), kind, out);
                       default:
                         return abi::kInvalidArgument;
                     }
                   });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetSupportedMemoryClocks(abi::Device device, unsigned* count,
                                                             unsigned* mhz) {
  return on_gpu(__func__, device, {count}, [&](const GpuView& view) {
    if (const auto begun = view.world.begin_call(CallId::read_supported_clocks, view.gpu, view.now); !begun)
      return to_return(begun);
    return copy_clocks(view.profile().memory_clocks, count, mhz);
  });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetSupportedGraphicsClocks(abi::Device device, unsigned memory_mhz,
                                                               unsigned* count, unsigned* mhz) {
  return on_gpu(__func__, device, {count}, [&](const GpuView& view) {
    if (const auto begun = view.world.begin_call(CallId::read_supported_clocks, view.gpu, view.now); !begun)
      return to_return(begun);
    const auto legal = view.profile().sm_clocks_at(nearest(view.profile().memory_clocks, memory_mhz));
    if (megahertz(nearest(view.profile().memory_clocks, memory_mhz)) != memory_mhz) return abi::kNotFound;
    return copy_clocks(legal, count, mhz);
  });
}

RUBATO_EXPORT abi::Return nvmlDeviceSetGpuLockedClocks(abi::Device device, unsigned low, unsigned high) {
  return on_gpu(__func__, device, {}, [&](const GpuView& view) {
    if (low > high) return abi::kInvalidArgument;
    return to_return(
        view.world.lock_sm_clock(view.gpu, rounded(view.profile().sm_clocks, low, high), view.now));
  });
}

RUBATO_EXPORT abi::Return nvmlDeviceResetGpuLockedClocks(abi::Device device) {
  return on_gpu(__func__, device, {},
                [](const GpuView& view) { return to_return(view.world.reset_sm_clock(view.gpu, view.now)); });
}

RUBATO_EXPORT abi::Return nvmlDeviceSetMemoryLockedClocks(abi::Device device, unsigned low, unsigned high) {
  return on_gpu(__func__, device, {}, [&](const GpuView& view) {
    if (low > high) return abi::kInvalidArgument;
    return to_return(
        view.world.lock_memory_clock(view.gpu, rounded(view.profile().memory_clocks, low, high), view.now));
  });
}

RUBATO_EXPORT abi::Return nvmlDeviceResetMemoryLockedClocks(abi::Device device) {
  return on_gpu(__func__, device, {}, [](const GpuView& view) {
    return to_return(view.world.reset_memory_clock(view.gpu, view.now));
  });
}

RUBATO_EXPORT abi::Return nvmlDeviceSetApplicationsClocks(abi::Device device, unsigned memory, unsigned sm) {
  return on_gpu(__func__, device, {}, [&](const GpuView& view) {
    const auto& profile = view.profile();
    const Megahertz nearest_memory = nearest(profile.memory_clocks, memory);
    const ApplicationClocks clocks{.memory = nearest_memory,
                                   .sm = nearest(profile.sm_clocks_at(nearest_memory), sm)};
    if (megahertz(clocks.memory) != memory || megahertz(clocks.sm) != sm) return abi::kInvalidArgument;
    return to_return(view.world.set_application_clocks(view.gpu, clocks, view.now));
  });
}

RUBATO_EXPORT abi::Return nvmlDeviceResetApplicationsClocks(abi::Device device) {
  return on_gpu(__func__, device, {}, [](const GpuView& view) {
    return to_return(view.world.reset_application_clocks(view.gpu, view.now));
  });
}

}  // namespace rubato::simgpu
