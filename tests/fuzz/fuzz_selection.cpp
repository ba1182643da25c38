#include <array>

#include "device/select.h"
#include "fuzz/target.h"

// --gpu lists and CUDA_VISIBLE_DEVICES, against two GPUs.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rubato;
  const std::string_view text = fuzz::text_of(data, size);
  const std::array<std::string_view, 3> backends{"nvml", "sim", "replay"};
  const std::array<GpuIdentity, 2> gpus{
      GpuIdentity{.id = {"GPU-1a"}, .name = "A", .index = 0, .pci_bus_id = "00000000:1B:00.0"},
      GpuIdentity{.id = {"GPU-1b"}, .name = "A", .index = 1, .pci_bus_id = "00000000:1C:00.0"}};
  const auto request = device::parse_request(text, backends);
  if (request) {
    const auto matched = device::match_gpus(request->items, gpus);
    fuzz::require(!matched || matched->size() <= gpus.size());
  }
  const auto visible = device::visible_gpus(text, gpus);
  fuzz::require(!visible || visible->gpus.size() <= gpus.size());
  return 0;
}
