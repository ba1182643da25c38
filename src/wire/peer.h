// Who is at the other end of a Unix socket, as the kernel knows it and nobody can claim it.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.h"

namespace rubato::wire {

/// Of the process that connected, or that listens; taken when it did so.
struct Peer {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // supplementary ones; empty where the kernel does not tell (before Linux 4.13)
  pid_t pid = 0;              // in our process namespace; 0 where it has none there
};

[[nodiscard]] Result<Peer> peer_of(int socket);

}  // namespace rubato::wire
