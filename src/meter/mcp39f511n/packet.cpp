#include "meter/mcp39f511n/packet.h"

namespace rubato::meter::mcp39f511n {
namespace {

constexpr std::uint8_t kHeader = 0xa5;
constexpr std::uint8_t kSetAddress = 0x41;
constexpr std::uint8_t kReadRegisters = 0x4e;
constexpr std::uint8_t kAcknowledged = 0x06;
constexpr std::uint8_t kRefused = 0x15;
constexpr std::uint8_t kChecksumFailed = 0x51;
constexpr std::size_t kFrame = 3;  // first byte, length, checksum

}  // namespace

std::uint8_t checksum(std::span<const std::uint8_t> bytes) {
  unsigned sum = 0;
  for (const std::uint8_t byte : bytes) sum += byte;
  return static_cast<std::uint8_t>(sum & 0xffU);
}

std::vector<std::uint8_t> read_request(std::uint16_t address, std::uint8_t count) {
  std::vector<std::uint8_t> request{kHeader,
                                    8,
                                    kSetAddress,
                                    static_cast<std::uint8_t>(address >> 8U),
                                    static_cast<std::uint8_t>(address & 0xffU),
                                    kReadRegisters,
                                    count};
  request.push_back(checksum(request));
  return request;
}

Reply parse_reply(std::span<const std::uint8_t> bytes, std::size_t count) {
  // One byte alone is the meter's whole answer; inside a longer stream it could be anything.
  if (bytes.size() == 1 && bytes[0] == kRefused) return {ReplyState::refused};
  if (bytes.size() == 1 && bytes[0] == kChecksumFailed) return {ReplyState::misread};
  const std::size_t length = count + kFrame;
  bool damaged = false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != kAcknowledged) continue;
    const auto rest = bytes.subspan(i);
    if (rest.size() > 1 && rest[1] != length) continue;
    if (rest.size() < length) return {};
    const auto packet = rest.first(length);
    if (checksum(packet.first(length - 1)) == packet.back())
      return {ReplyState::complete, {packet.begin() + 2, packet.end() - 1}};
    damaged = true;
  }
  return {damaged ? ReplyState::damaged : ReplyState::incomplete};
}

std::uint64_t little_endian(std::span<const std::uint8_t> data, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8U | data[at + i];
  return value;
}

}  // namespace rubato::meter::mcp39f511n
