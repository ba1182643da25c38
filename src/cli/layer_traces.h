// What the hooks of a job's processes wrote about its layers (rubato.layer-trace/1), and the one network in
// it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace rubato::cli {

struct TracedNetwork {
  std::string file;     // rubato.network/1, a layer on each line
  std::string summary;  // "ResNet, batch 32, 3x224x224: 175 layers, 25.6 million parameters"
  std::string source;   // "3 iterations of PyTorch 2.1.0"
  std::vector<std::string> notes;
  std::vector<std::string> dynamic;  // layers whose shapes change
};

/// Whether a process has written its network and has nothing more to show. One that ends early writes, too.
[[nodiscard]] bool enough_came(const std::filesystem::path& folder);

/// Of the lowest rank. not_found says why no process has one; invalid_argument names what is wrong in it.
[[nodiscard]] Result<TracedNetwork> traced_network(const std::filesystem::path& folder);

}  // namespace rubato::cli
