// The meter's serial port: found and checked by its USB ids before a byte is written, asked and answered
// within a bounded time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/fs_root.h"
#include "base/result.h"

namespace rubato::meter::mcp39f511n {

/// Serial ports whose USB ids are the meter's, as "/dev/ttyACM0".
[[nodiscard]] std::vector<std::string> find_ports(const FsRoot& root);

class Port {
 public:
  /// Errors: not_found (no such port, or its USB ids are another device's), no_permission, busy, io.
  [[nodiscard]] static Result<Port> open(const FsRoot& root, const std::string& device);

  /// Data of one register read. A bad packet is asked for once more. Errors: timeout (silence, half a
  /// packet), corrupt (checksum), not_supported (refused), device_lost: the port is of no more use.
  [[nodiscard]] Result<std::vector<std::uint8_t>> read_registers(std::uint16_t address, std::size_t count);

 private:
  explicit Port(ScopedFd fd, std::string device) : fd_(std::move(fd)), device_(std::move(device)) {}
  [[nodiscard]] Result<std::vector<std::uint8_t>> ask(std::span<const std::uint8_t> request,
                                                      std::size_t count);
  [[nodiscard]] Status send(std::span<const std::uint8_t> request);
  [[nodiscard]] Error lost(std::string_view how) const;

  ScopedFd fd_;
  std::string device_;
};

}  // namespace rubato::meter::mcp39f511n
