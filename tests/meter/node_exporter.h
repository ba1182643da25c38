// prometheus-node-exporter on a folder that stands for /sys: an independent reader of the same files.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/fd.h"

namespace rubato::meter::testing {

/// The program tools/unpack-test-servers fetched; absent where it could not.
[[nodiscard]] std::optional<std::filesystem::path> node_exporter_program();

class NodeExporter {
 public:
  /// On loopback, at a port of the kernel's choice; stopped by the destructor.
  NodeExporter(const std::filesystem::path& program, const std::filesystem::path& sysfs);
  ~NodeExporter();
  NodeExporter(const NodeExporter&) = delete;
  NodeExporter& operator=(const NodeExporter&) = delete;

  /// Every metric of the page, "name{labels}" to value. Empty where it does not answer within some seconds.
  [[nodiscard]] std::map<std::string, double> metrics();

 private:
  pid_t pid_ = -1;
  ScopedFd log_;
  int port_ = 0;
};

}  // namespace rubato::meter::testing
