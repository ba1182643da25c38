// Cutting a guard process loose from what started it.
#pragma once

#include <filesystem>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace rubato::guard {

/// Own session, standard streams on /dev/null, every descriptor but `keep` closed (-1: all), SIGPIPE ignored.
void detach_process(int keep);

/// Blocks SIGTERM, SIGINT and SIGHUP for this process, whatever it inherited, and returns where they arrive.
[[nodiscard]] Result<ScopedFd> ending_signals();

struct ConnectedBack {
  ScopedFd socket;
  std::string token;
};

/// Reads the token from standard input, forks, ends the parent (so sudo ends too), detaches and connects to
/// `path`. no_permission where the listener is not run by the user whom sudo names.
[[nodiscard]] Result<ConnectedBack> connect_back(const std::filesystem::path& path);

/// The user id of whoever connected to, or listens behind, a Unix socket.
[[nodiscard]] Result<uid_t> peer_user(int socket);

}  // namespace rubato::guard
