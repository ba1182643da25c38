#include "daemon/privileges.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace rubato::daemon {
namespace {

using Sets = std::array<__user_cap_data_struct, 2>;  // capabilities 0 to 31, and 32 to 63

void keep_only(Sets& sets, unsigned capability, bool kept) {
  for (unsigned word = 0; word < sets.size(); ++word) {
    const bool here = kept && capability / 32 == word;
    const unsigned mask = here ? 1U << (capability % 32) : 0;
    sets[word].effective &= mask;
    sets[word].permitted &= mask;
    sets[word].inheritable = 0;
  }
}

}  // namespace

Status drop_privileges(bool sets_gpus) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail(from_errno(errno, "cannot give up getting new rights"));
  // Needs CAP_SETPCAP, which only a daemon that has capabilities to lose has.
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability)
    if (!sets_gpus || capability != CAP_SYS_ADMIN) (void)::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  Sets sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0)
    return fail(from_errno(errno, "cannot read this process's capabilities"));
  keep_only(sets, CAP_SYS_ADMIN, sets_gpus);
  if (::syscall(SYS_capset, &header, sets.data()) != 0)
    return fail(from_errno(errno, "cannot give up this process's capabilities"));
  return {};
}

void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace rubato::daemon
