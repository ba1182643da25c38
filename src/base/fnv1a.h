// FNV-1a (Fowler, Noll and Vo), 64 bits: the same text gives the same number in every process and build. It
// tells texts apart; it is no protection against forgery.
#pragma once

#include <cstdint>
#include <string_view>

namespace rubato {

inline constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325ULL;

/// Another `start` gives an independent number.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t start = kFnvBasis) {
  std::uint64_t hash = start;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace rubato
