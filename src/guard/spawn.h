// Starting another program with few, named descriptors. For use before any thread exists.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace rubato::guard {

struct SpawnOptions {
  std::vector<std::string> command;  // looked up in PATH
  int keep_fd = -1;                  // stays open under its number
  int stdin_fd = -1;                 // becomes standard input; -1: /dev/null where detached, else unchanged
  bool detached = true;              // own session, standard streams on /dev/null
};

[[nodiscard]] Result<pid_t> spawn(const SpawnOptions& options);

/// Waits for the end; "exit status 1" or "signal 9".
[[nodiscard]] std::string wait_in_words(pid_t child);
[[nodiscard]] bool wait_for_success(pid_t child);

}  // namespace rubato::guard
