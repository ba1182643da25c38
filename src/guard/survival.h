// Whether anything of rubato can outlive the job here, decided from what the machine shows: without that,
// nothing may be changed (docs/design.md, promise 1).
#pragma once

#include <map>
#include <string>

#include "base/fs_root.h"

namespace rubato::guard {

enum class Outliving {
  scope,  // the guard gets a systemd scope of its own
  plain,  // a session of its own is enough: nobody ends it with the job
  none,
};

struct Survival {
  Outliving means = Outliving::none;
  std::string why;   // a clause either way: "systemd runs this machine", "this is a Slurm job"
  std::string hint;  // where none: what helps
  [[nodiscard]] bool possible() const { return means != Outliving::none; }
};

[[nodiscard]] Survival survival(const FsRoot& root, const std::map<std::string, std::string>& environment);

}  // namespace rubato::guard
