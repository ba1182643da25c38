// How a GPU is named. Everything inside rubato uses the UUID; index, PCI id and the rest are for people.
#pragma once

#include <compare>
#include <string>

namespace rubato {

struct GpuId {
  std::string uuid;  // "GPU-…" from the driver; "GPU-51…" with a fixed prefix for simulated ones
  auto operator<=>(const GpuId&) const = default;
};

struct GpuIdentity {
  GpuId id;
  std::string name;        // "Tesla V100-PCIE-16GB"
  unsigned index = 0;      // the driver's own order, which CUDA's need not be
  std::string pci_bus_id;  // "00000000:1B:00.0"
};

}  // namespace rubato
