// Seeded randomness whose sequence is ours, not the standard library's: the same seed gives the same bytes
// anywhere.
#pragma once

#include <array>
#include <cstdint>

namespace rubato {

/// xoshiro256++ (Blackman and Vigna, 2019), seeded through splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  [[nodiscard]] std::uint64_t next();
  /// In [0, 1).
  [[nodiscard]] double uniform();
  [[nodiscard]] double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Standard normal (Box-Muller).
  [[nodiscard]] double normal();
  /// In [0, count); count > 0.
  [[nodiscard]] std::uint64_t index(std::uint64_t count);
  /// An independent stream named by `salt`.
  [[nodiscard]] Random fork(std::uint64_t salt);

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace rubato
