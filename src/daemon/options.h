// rubatod's command line.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace rubato::daemon {

struct Options {
  std::filesystem::path config;  // empty: the built-in rules, which only observe
  std::string gpus;              // as after --gpu; empty: those of the configuration
  std::filesystem::path socket;  // empty: that of the configuration
  bool observe = false;          // whatever the configuration says
  bool restore_only = false;     // put back what a dead run left, and end
  bool check = false;            // read the configuration, say what is wrong with it, and end
};

}  // namespace rubato::daemon
