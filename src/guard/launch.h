// Starting a guard process: as a child, in a systemd scope of its own, or through sudo. To be called before
// any thread or driver call of this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fs_root.h"
#include "core/restoration.h"
#include "wire/channel.h"

namespace rubato::guard {

/// The hidden subcommand's arguments: "guard --backend SPEC (--socket-fd N | --connect PATH --token-stdin)
/// [--restore] [--successor]".
struct LaunchOptions {
  std::string backend_spec;  // device::Selection::spec
  bool own_scope = true;     // false for simulated GPUs; without systemd it makes no difference
  /// Set: start it through sudo; a socket is made in this folder, which must be the user's own (0700).
  std::optional<std::filesystem::path> sudo_folder{};
  /// The guard will have rights that this process has not, or will have given up, so it leaves a successor.
  bool successor = false;
  FsRoot root{};
  std::string program{};  // empty: this very program
  std::string sudo = "sudo";
};

struct LaunchedGuard {
  std::unique_ptr<wire::SocketChannel> channel;  // greeted already
  std::int64_t pid = 0;                          // for display only
  bool own_scope = false;
};

/// Returns when the guard has opened its driver and answered. Errors are the guard's own where it said
/// something.
[[nodiscard]] Result<LaunchedGuard> launch_guard(const LaunchOptions& options);

/// Starts a guard only to put back what dead runs left behind; its reports.
[[nodiscard]] Result<std::vector<RestorationReport>> launch_restore(const LaunchOptions& options);

}  // namespace rubato::guard
