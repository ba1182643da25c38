// The guard as a process of its own: what surrounds Guard so that it outlives terminal, client and signals.
#pragma once

#include <filesystem>
#include <functional>

#include "guard/guard.h"

namespace rubato::guard {

struct ProcessOptions {
  /// Inherited, connected SOCK_SEQPACKET socket; or -1 where `connect_path` is given.
  int socket_fd = -1;
  /// The sudo form: connect back to the socket of the user named by SUDO_UID, after reading the one-time
  /// token from standard input; the process that sudo waits for ends at once.
  std::filesystem::path connect_path{};
  /// The client could not put back what this process leaves should it be killed (guard/successor.h).
  bool successor = false;
  /// Opens the driver. Called once, when the process is on its own; an error becomes the answer to every
  /// request.
  std::function<Result<GuardOptions>()> prepare;
};

/// Serves one client until it is gone or SIGTERM, SIGINT or SIGHUP asks this process to end; restores either
/// way. Returns the exit status: 0 where nothing is left changed.
[[nodiscard]] int run_guard_process(const ProcessOptions& options);

/// Answers the first message with the reports of restore_stale() and ends.
[[nodiscard]] int run_restore_process(const ProcessOptions& options);

}  // namespace rubato::guard
