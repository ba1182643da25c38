// The board around the chip: what it is called, what it is wired to, and the modes it stands in.
#include <unistd.h>

#include <climits>
#include <string_view>

#include "simgpu/nvml/client_abi.h"
#include "simgpu/nvml/entry.h"

namespace rubato::simgpu {
namespace {

constexpr unsigned kOff = 0;
constexpr unsigned kOn = 1;

unsigned brand_of(std::string_view board) {
  if (board.find("GeForce") != std::string_view::npos) return client::kBrandGeforce;
  if (board.find("Tesla") != std::string_view::npos) return client::kBrandTesla;
  if (board.find("RTX") != std::string_view::npos) return client::kBrandNvidiaRtx;
  return client::kBrandNvidia;
}

/// A100 and A30, and the data-centre chips after them (MIG user guide, "Supported GPUs").
bool has_mig(const sim::Profile& profile) {
  if (brand_of(profile.board) == client::kBrandGeforce) return false;
  return profile.compute_major >= 9 || (profile.compute_major == 8 && profile.compute_minor == 0);
}

/// A mode that is always `fixed`: asking for that is granted, asking for another is not.
abi::Return set_mode(const char* function, abi::Device device, unsigned wanted, unsigned fixed) {
  return on_gpu(function, device, {}, [&](const GpuView& view) {
    if (!view.world.why_may_not_set().empty()) return abi::kNoPermission;
    return wanted == fixed ? abi::kSuccess : abi::kNotSupported;
  });
}

abi::Return tell(const char* function, abi::Device device, unsigned* out, unsigned value) {
  return on_gpu(function, device, {out}, [&](const GpuView&) {
    *out = value;
    return abi::kSuccess;
  });
}

}  // namespace

RUBATO_EXPORT abi::Return nvmlDeviceGetBrand(abi::Device device, unsigned* brand) {
  return on_gpu(__func__, device, {brand}, [&](const GpuView& view) {
    *brand = brand_of(view.profile().board);
    return abi::kSuccess;
  });
}

// The N of /dev/nvidiaN, which Slurm looks for.
RUBATO_EXPORT abi::Return nvmlDeviceGetMinorNumber(abi::Device device, unsigned* number) {
  return on_gpu(__func__, device, {number}, [&](const GpuView& view) {
    *number = view.gpu;
    return abi::kSuccess;
  });
}

// Equally near to every processor.
RUBATO_EXPORT abi::Return nvmlDeviceGetCpuAffinity(abi::Device device, unsigned words, unsigned long* set) {
  return on_gpu(__func__, device, {set}, [&](const GpuView&) {
    constexpr unsigned kBits = sizeof(unsigned long) * CHAR_BIT;
    const auto processors = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_CONF));
    if (words * kBits < processors) return abi::kInsufficientSize;
    for (unsigned word = 0; word < words; ++word) set[word] = 0;
    for (unsigned cpu = 0; cpu < processors; ++cpu) set[cpu / kBits] |= 1UL << (cpu % kBits);
    return abi::kSuccess;
  });
}

// A world keeps its settings while nobody looks.
RUBATO_EXPORT abi::Return nvmlDeviceGetPersistenceMode(abi::Device device, unsigned* mode) {
  return tell(__func__, device, mode, kOn);
}
RUBATO_EXPORT abi::Return nvmlDeviceSetPersistenceMode(abi::Device device, unsigned mode) {
  return set_mode(__func__, device, mode, kOn);
}

// Default: several processes may share the GPU.
RUBATO_EXPORT abi::Return nvmlDeviceGetComputeMode(abi::Device device, unsigned* mode) {
  return tell(__func__, device, mode, 0);
}
RUBATO_EXPORT abi::Return nvmlDeviceSetComputeMode(abi::Device device, unsigned mode) {
  return set_mode(__func__, device, mode, 0);
}

RUBATO_EXPORT abi::Return nvmlDeviceGetPowerManagementMode(abi::Device device, unsigned* mode) {
  return tell(__func__, device, mode, kOn);
}

RUBATO_EXPORT abi::Return nvmlDeviceGetAccountingMode(abi::Device device, unsigned* mode) {
  return tell(__func__, device, mode, kOff);
}
RUBATO_EXPORT abi::Return nvmlDeviceSetAccountingMode(abi::Device device, unsigned mode) {
  return set_mode(__func__, device, mode, kOff);
}

RUBATO_EXPORT abi::Return nvmlDeviceGetMigMode(abi::Device device, unsigned* current, unsigned* pending) {
  return on_gpu(__func__, device, {current, pending}, [&](const GpuView& view) {
    if (!has_mig(view.profile())) return abi::kNotSupported;
    *current = kOff;
    *pending = kOff;
    return abi::kSuccess;
  });
}
RUBATO_EXPORT abi::Return nvmlDeviceGetMaxMigDeviceCount(abi::Device device, unsigned* count) {
  return tell(__func__, device, count, 0);
}
// nvidia-smi lists no processes where this fails.
RUBATO_EXPORT abi::Return nvmlDeviceIsMigDeviceHandle(abi::Device device, unsigned* is) {
  return tell(__func__, device, is, kOff);
}

// Whether the GPU hangs on the module's CPU directly, as on a Grace Hopper: Zeus asks, and then for the
// module's power.
RUBATO_EXPORT abi::Return nvmlDeviceGetC2cModeInfoV(abi::Device device, client::C2cMode* mode) {
  return on_gpu(__func__, device, {mode}, [&](const GpuView& view) {
    if (!view.profile().module_others) return abi::kNotSupported;
    mode->enabled = kOn;
    return abi::kSuccess;
  });
}

// Bare metal.
RUBATO_EXPORT abi::Return nvmlDeviceGetVirtualizationMode(abi::Device device, unsigned* mode) {
  return tell(__func__, device, mode, 0);
}

RUBATO_EXPORT abi::Return nvmlDeviceGetDisplayActive(abi::Device device, unsigned* active) {
  return tell(__func__, device, active, kOff);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetDisplayMode(abi::Device device, unsigned* mode) {
  return tell(__func__, device, mode, kOff);
}

}  // namespace rubato::simgpu
