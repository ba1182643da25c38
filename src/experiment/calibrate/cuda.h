// One GPU through the CUDA driver's own library, opened at run time: what a micro-benchmark needs, and no
// more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/gpu_figures.h"

namespace rubato::experiment {

struct CudaFacts {
  std::string name;
  unsigned driver_version = 0;  // 12020: the newest CUDA it runs is 12.2
  GpuFigures figures;
};

/// A kernel of a loaded module; valid as long as its device is open.
struct CudaKernel {
  void* function = nullptr;
};

struct LaunchShape {
  unsigned blocks = 1;
  unsigned threads = 1;
};

/// All calls from one thread. Errors carry the driver's own words.
class CudaDevice {
 public:
  virtual ~CudaDevice() = default;
  [[nodiscard]] virtual const CudaFacts& facts() const = 0;
  /// Lets the driver compile PTX for this GPU; its log is in the error.
  [[nodiscard]] virtual Result<CudaKernel> load(const std::string& ptx, const char* entry) = 0;
  /// Freed when the device is closed.
  [[nodiscard]] virtual Result<std::uint64_t> allocate(std::size_t bytes) = 0;
  [[nodiscard]] virtual Status write(std::uint64_t to, std::span<const std::byte> from) = 0;
  [[nodiscard]] virtual Status read(std::span<std::byte> to, std::uint64_t from) = 0;
  /// Queues it; `arguments` points at one value for each parameter of the kernel.
  [[nodiscard]] virtual Status launch(const CudaKernel& kernel, LaunchShape shape,
                                      std::span<void*> arguments) = 0;
  /// Marks this place in the queue: 0 or 1, each of which may be marked again.
  [[nodiscard]] virtual Status mark(unsigned which) = 0;
  /// Sleeps until what was queued before that mark is done.
  [[nodiscard]] virtual Status wait(unsigned which) = 0;
};

inline constexpr std::string_view kCudaLibrary = "libcuda.so.1";

/// The GPU of this UUID ("GPU-..."); empty: the first that CUDA shows. Makes a compute context on it.
/// Errors: unavailable where there is no driver; not_found where CUDA shows no such GPU.
[[nodiscard]] Result<std::unique_ptr<CudaDevice>> open_cuda(
    std::string_view uuid, const std::string& library = std::string(kCudaLibrary));

}  // namespace rubato::experiment
