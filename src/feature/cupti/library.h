// Finds the driver's libcuda and the CUPTI that fits it. Both are opened at the first use only, and never
// closed: CUPTI does not bear it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fs_root.h"
#include "base/result.h"
#include "feature/cupti/api.h"

namespace rubato::feature::cupti {

/// Where to look; as found() fills it, or as a test says.
struct Places {
  std::string cuda = "libcuda.so.1";
  std::string named;                      // $RUBATO_CUPTI: a file, or the folder that holds it
  std::vector<std::string> environments;  // Python's, active now: $VIRTUAL_ENV, $CONDA_PREFIX
  std::vector<std::string> toolkits = {"/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64",
                                       "/opt/cuda/extras/CUPTI/lib64"};
  bool loader = true;  // the loader's own path besides
  FsRoot root{};

  /// With the environment's words, unless this program runs with rights of its file's own.
  [[nodiscard]] static Places found();
};

struct CudaDevice {
  std::size_t index = 0;    // CUDA's, which CUDA_VISIBLE_DEVICES changes
  unsigned cuda_major = 0;  // the newest CUDA that the driver runs
};

/// Starts CUDA in this process, without a context. Errors: unavailable, not_found where CUDA does not show
/// the GPU.
[[nodiscard]] Result<CudaDevice> find_cuda_device(const Places& places, std::string_view pci_bus_id);

/// Errors: not_found; not_supported with the version found and those needed.
[[nodiscard]] Result<Api> open_cupti(const Places& places, unsigned cuda_major);
/// One file, whatever driver is there: for what CUPTI knows without a GPU.
[[nodiscard]] Result<Api> open_cupti_file(const std::string& path);

}  // namespace rubato::feature::cupti
