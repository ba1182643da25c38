// Where a record lies while it is written and after: folders, network file systems, the move at the end.
#pragma once

#include <filesystem>
#include <functional>

#include "base/result.h"

namespace rubato::record {

/// What Writer::create asks about the machine; tests hand in their own answers.
struct Placement {
  std::function<bool(const std::filesystem::path&)> is_network;  // empty: ask the kernel
  std::filesystem::path temporary_folder;                        // empty: $TMPDIR, else /tmp
};

/// NFS, SMB, Lustre, GPFS, BeeGFS, Ceph, AFS, 9P and everything on FUSE: SQLite's locks and shared memory
/// cannot be relied on there. False where the kernel does not say.
[[nodiscard]] bool on_network_file_system(const std::filesystem::path& folder);

/// Creates `folder` and what is missing above it, all 0700: command lines in records may hold secrets.
[[nodiscard]] Status make_private_folders(const std::filesystem::path& folder);

/// A new folder of our own in `parent`, 0700, with a name nobody can foresee.
[[nodiscard]] Result<std::filesystem::path> make_scratch_folder(const std::filesystem::path& parent);

/// Copies across file systems under another name, syncs, renames into place, then removes `from`. On failure
/// `from` is still there and nothing of `to`.
[[nodiscard]] Status move_into_place(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace rubato::record
