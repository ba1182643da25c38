// The options by which `rubato layers show` and `plan` are told of a network, and its demands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"
#include "predict/layers/demands.h"

namespace rubato::cli {

struct NetworkOptions {
  std::string network;  // a name from workloads/networks/, or a file
  unsigned batch = 0;   // 0: not told
  unsigned image = 0;
  std::string precision;
  std::string optimizer;
  bool skip_dynamic = false;
};

/// NETWORK --batch --image --precision --optimizer --skip-dynamic
void add_network_options(CLI::App& command, NetworkOptions& options);

[[nodiscard]] Result<predict::Demanded> read_demands(const NetworkOptions& options);

}  // namespace rubato::cli
