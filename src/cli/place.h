// Where this process runs, as far as the right to set a GPU goes, and what can be done about that there.
#pragma once

#include <map>
#include <string>

#include "base/fs_root.h"
#include "base/result.h"

namespace rubato::cli {

enum class Right {
  here,       // this process has it
  withheld,   // no process of this container can have it
  scheduler,  // an ordinary user of a scheduler's node
  sudo,       // an ordinary user of a machine that has sudo
  none,       // an ordinary user, and no sudo
};

[[nodiscard]] std::string_view name_of(Right right);

struct Place {
  Right right = Right::here;
  std::string scheduler;  // "Slurm"; empty: none
  std::string container;  // "Docker"; empty: none that shows
  bool root = false;
  bool user_namespace = false;  // not the first one: root here is an ordinary user of the host

  /// "a Docker container, as root", "a Slurm job, as an ordinary user".
  [[nodiscard]] std::string in_words() const;
};

/// From what the kernel shows of this process; sets nothing, starts nothing.
[[nodiscard]] Place place(const FsRoot& root, const std::map<std::string, std::string>& environment);

/// What keeps this process from setting GPUs and what mends it; for Right::here nothing is in it.
[[nodiscard]] Error missing_right_here(const Place& place);

}  // namespace rubato::cli
