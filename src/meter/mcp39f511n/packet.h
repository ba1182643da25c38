// The meter's serial protocol: requests that read registers, and replies cut out of whatever bytes came.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rubato::meter::mcp39f511n {

/// Header, length, "set address", "read", checksum.
[[nodiscard]] std::vector<std::uint8_t> read_request(std::uint16_t address, std::uint8_t count);

enum class ReplyState {
  incomplete,  // what is there may still become a reply
  complete,
  damaged,  // a whole packet with a wrong checksum
  refused,  // the meter did not understand
  misread,  // the meter saw a wrong checksum in the request
};

struct Reply {
  ReplyState state = ReplyState::incomplete;
  std::vector<std::uint8_t> data{};  // of a complete one, without header and checksum
};

/// Looks for a reply that carries `count` bytes of data; garbage before it is skipped.
[[nodiscard]] Reply parse_reply(std::span<const std::uint8_t> bytes, std::size_t count);

/// Registers are sent lowest byte first. `size` is at most 8 and `at + size` within `data`.
[[nodiscard]] std::uint64_t little_endian(std::span<const std::uint8_t> data, std::size_t at,
                                          std::size_t size);

/// The sum of the bytes modulo 256, which ends every packet.
[[nodiscard]] std::uint8_t checksum(std::span<const std::uint8_t> bytes);

}  // namespace rubato::meter::mcp39f511n
