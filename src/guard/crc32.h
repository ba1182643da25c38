// CRC-32 as in zlib and Ethernet (reflected polynomial 0xEDB88320), small enough not to need a library.
#pragma once

#include <cstdint>
#include <string_view>

namespace rubato::guard {

[[nodiscard]] constexpr std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

// The check value of the CRC catalogue.
static_assert(crc32("123456789") == 0xcbf43926U);

}  // namespace rubato::guard
