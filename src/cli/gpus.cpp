#include "cli/gpus.h"

#include <cstdlib>

namespace rubato::cli {

Result<OpenGpus> open_gpus(std::string_view list) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  auto selection = device::select_gpus(list, visible == nullptr ? "" : visible);
  if (!selection) return fail(selection.error());
  OpenGpus open;
  open.selection = std::move(*selection);
  for (const auto& identity : open.selection.chosen) {
    auto gpu = open.selection.backend->open(identity.id);
    if (!gpu) return fail(gpu.error());
    open.gpus.push_back(std::move(*gpu));
  }
  return open;
}

bool names_simulated(std::string_view list) {
  return list.starts_with("sim:");
}

}  // namespace rubato::cli
