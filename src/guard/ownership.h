// Who may write to a GPU: the holder of the lock on its lock file, which the kernel drops when the holder
// dies.
#pragma once

#include <memory>

#include "base/fd.h"
#include "core/gpu_id.h"
#include "guard/files.h"

namespace rubato::guard {

class Ownership {
 public:
  /// busy, naming the owner, where another process holds it. The file is never removed: two processes that
  /// lock files of the same name must lock the same file.
  [[nodiscard]] static Result<Ownership> take(const Folder& folder, const GpuId& gpu);

 private:
  explicit Ownership(ScopedFd fd) : fd_(std::move(fd)) {}
  ScopedFd fd_;
};

/// rubatod keeps a GPU beyond a lease.
using SharedOwnership = std::shared_ptr<const Ownership>;

}  // namespace rubato::guard
