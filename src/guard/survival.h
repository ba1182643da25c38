// Whether anything of rubato can outlive the job here, decided from what the machine shows: without that,
// nothing may be changed (docs/design.md, promise 1).
#pragma once

#include <filesystem>
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
  std::string why;        // a clause either way: "systemd runs this machine", "this is a Slurm job"
  std::string hint;       // where none: what helps
  std::string scheduler;  // whose job this is, for people: "Slurm"; empty: none
  std::string container;  // what kind of container this is: "Docker"; empty: none
  [[nodiscard]] bool possible() const { return means != Outliving::none; }
};

/// True where `folder` is a mount of its own, as a container's run/rubato is when the host lends it: what
/// lies there is still there when the container is gone.
[[nodiscard]] bool is_lent_by_host(const FsRoot& root, const std::filesystem::path& folder);

[[nodiscard]] Survival survival(const FsRoot& root, const std::map<std::string, std::string>& environment);

}  // namespace rubato::guard
