#include "wire/peer.h"

#include <sys/socket.h>

#include <cerrno>

namespace rubato::wire {
namespace {

constexpr std::size_t kUsualGroups = 64;

std::vector<gid_t> groups_of(int socket) {
#ifdef SO_PEERGROUPS
  std::vector<gid_t> groups(kUsualGroups);
  for (int tries = 0; tries < 2; ++tries) {
    auto bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    const int told = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes);
    if (told != 0 && errno != ERANGE) return {};
    groups.resize(bytes / sizeof(gid_t));
    if (told == 0) return groups;
  }
#endif
  return {};
}

}  // namespace

Result<Peer> peer_of(int socket) {
  ucred told{};
  socklen_t size = sizeof(told);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &told, &size) != 0)
    return fail(from_errno(errno, "cannot tell who is at the other end of the lease socket"));
  return Peer{told.uid, told.gid, groups_of(socket), told.pid};
}

}  // namespace rubato::wire
