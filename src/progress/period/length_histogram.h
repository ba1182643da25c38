// The lengths of iterations gone by, in bounded memory: a million of them take as much room as ten.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rubato::progress {

class LengthHistogram {
 public:
  void add(double length_s);
  void clear() { *this = {}; }
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Of what was added and of `more`; 0 where there is nothing.
  [[nodiscard]] double median_with(std::span<const double> more) const;

 private:
  static constexpr std::size_t kBins = 2400;  // 0.01 s to 110 s in steps of 0.39 %
  std::array<std::uint32_t, kBins> bins_{};
  std::size_t count_ = 0;
};

}  // namespace rubato::progress
