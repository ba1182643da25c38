#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "base/text.h"
#include "simgpu/nvml/entry.h"

namespace rubato::simgpu {
namespace {

struct PciPlace {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  bool operator==(const PciPlace&) const = default;
};

/// "00000000:1B:00.0", and the shorter domains that clients use.
std::optional<PciPlace> parse_place(const char* text) {
  PciPlace place;
  unsigned function = 0;
  if (std::sscanf(text, "%x:%x:%x.%x", &place.domain, &place.bus, &place.device, &function) < 3)
    return std::nullopt;
  return place;
}

unsigned architecture_of(const sim::Profile& profile) {
  constexpr std::array<std::pair<std::string_view, unsigned>, 9> kNames = {
      {{"kepler", abi::kArchKepler},
       {"maxwell", abi::kArchMaxwell},
       {"pascal", abi::kArchPascal},
       {"volta", abi::kArchVolta},
       {"turing", abi::kArchTuring},
       {"ampere", abi::kArchAmpere},
       {"ada", abi::kArchAda},
       {"hopper", abi::kArchHopper},
       {"blackwell", abi::kArchBlackwell}}};
  for (const auto& [name, number] : kNames)
    if (name == profile.architecture) return number;
  return abi::kArchUnknown;
}

abi::Return fill_pci(const GpuView& view, abi::PciInfo* pci) {
  const auto place = parse_place(view.identity().pci_bus_id.c_str());
  if (!place) return abi::kUnknown;
  *pci = {};
  pci->domain = place->domain;
  pci->bus = place->bus;
  pci->device = place->device;
  pci->pci_device_id = view.profile().pci_device_id;
  std::snprintf(pci->bus_id_legacy, sizeof(pci->bus_id_legacy), "%04X:%02X:%02X.0", place->domain & 0xffffU,
                place->bus & 0xffU, place->device & 0xffU);
  std::snprintf(pci->bus_id, sizeof(pci->bus_id), "%08X:%02X:%02X.0", place->domain, place->bus & 0xffU,
                place->device & 0xffU);
  return abi::kSuccess;
}

}  // namespace

RUBATO_EXPORT abi::Return nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, abi::Device* device) {
  return in_session(__func__, {bus_id, device}, [&](sim::SimWorld& here) {
    const auto wanted = parse_place(bus_id);
    if (!wanted) return abi::kInvalidArgument;
    for (unsigned gpu = 0; gpu < here.gpu_count(); ++gpu) {
      if (parse_place(here.identity(gpu).pci_bus_id.c_str()) != wanted) continue;
      *device = handle_of(gpu);
      return abi::kSuccess;
    }
    return abi::kNotFound;
  });
}
RUBATO_EXPORT abi::Return nvmlDeviceGetHandleByPciBusId(const char* bus_id, abi::Device* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(bus_id, device);
}

RUBATO_EXPORT abi::Return nvmlDeviceGetName(abi::Device device, char* text, unsigned size) {
  return on_gpu(__func__, device, {text},
                [&](const GpuView& view) { return copy_text(view.identity().name, text, size); });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetUUID(abi::Device device, char* text, unsigned size) {
  return on_gpu(__func__, device, {text},
                [&](const GpuView& view) { return copy_text(view.identity().id.uuid, text, size); });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetIndex(abi::Device device, unsigned* index) {
  return on_gpu(__func__, device, {index}, [&](const GpuView& view) {
    *index = view.identity().index;
    return abi::kSuccess;
  });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetPciInfo_v3(abi::Device device, abi::PciInfo* pci) {
  return on_gpu(__func__, device, {pci}, [&](const GpuView& view) { return fill_pci(view, pci); });
}
RUBATO_EXPORT abi::Return nvmlDeviceGetPciInfo_v2(abi::Device device, abi::PciInfo* pci) {
  return nvmlDeviceGetPciInfo_v3(device, pci);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetPciInfo(abi::Device device, abi::PciInfo* pci) {
  return nvmlDeviceGetPciInfo_v3(device, pci);
}

RUBATO_EXPORT abi::Return nvmlDeviceGetArchitecture(abi::Device device, unsigned* architecture) {
  return on_gpu(__func__, device, {architecture}, [&](const GpuView& view) {
    *architecture = architecture_of(view.profile());
    return abi::kSuccess;
  });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetCudaComputeCapability(abi::Device device, int* major, int* minor) {
  return on_gpu(__func__, device, {major, minor}, [&](const GpuView& view) {
    *major = static_cast<int>(view.profile().compute_major);
    *minor = static_cast<int>(view.profile().compute_minor);
    return abi::kSuccess;
  });
}

}  // namespace rubato::simgpu
