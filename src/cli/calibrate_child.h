// One measured run of a command as a child: `rubato run` or `rubato measure`, whose promises it has, and what
// came of it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "record/reader.h"

namespace rubato::cli {

struct ChildRun {
  int status = 0;            // its exit status; 128 + N where signal N ended it
  bool interrupted = false;  // the user pressed Ctrl-C meanwhile
  std::string output;        // of the command
  std::string messages;      // of rubato and the command, on standard error
  Result<record::RunRecord> record = fail(ErrorCode::unavailable, "nothing was recorded");
};

/// `arguments` after the program's name; `--quiet --json --report` are added before `command`. Ctrl-C reaches
/// the child, which ends in its own time; this process goes on.
[[nodiscard]] Result<ChildRun> run_measured(std::vector<std::string> arguments,
                                            const std::vector<std::string>& command);

/// This very program.
[[nodiscard]] std::string own_program();

}  // namespace rubato::cli
