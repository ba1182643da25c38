// What rubatod may still do once it stands: to set GPUs, and nothing else.
#pragma once

#include "base/result.h"

namespace rubato::daemon {

/// `sets_gpus`: CAP_SYS_ADMIN stays where it was, which NVIDIA's driver asks for; else no capability does. No
/// program started from here can get any back. Before the first thread: capabilities are each thread's own.
[[nodiscard]] Status drop_privileges(bool sets_gpus);

/// As many open files as this process may have.
void raise_file_limit();

}  // namespace rubato::daemon
