// Journals that dead guards left behind: found, and put back, without anybody asking for a lease.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/fs_root.h"
#include "core/restoration.h"
#include "guard/files.h"
#include "guard/opened_gpu.h"

namespace rubato::guard {

struct StaleOptions {
  std::filesystem::path folder;
  GpuFactory open;
  FsRoot root{};
  std::string driver_version;
  std::shared_ptr<FileOps> files = std::make_shared<FileOps>();
};

/// GPUs that have a journal in the folder, in UUID order, whether a living guard holds them or not. Needs no
/// more right than listing the folder; none where the folder is missing.
[[nodiscard]] Result<std::vector<GpuId>> journals_in(const std::filesystem::path& folder);

/// One report for every journal whose guard is dead. A GPU that is not present, or cannot be opened, is
/// reported as failed and keeps its journal; GPUs in the hands of a living guard are skipped.
[[nodiscard]] Result<std::vector<RestorationReport>> restore_stale(const StaleOptions& options);

}  // namespace rubato::guard
