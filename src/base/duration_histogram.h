// How long something takes, counted in bins that never change: no allocation, and the same error at every
// length.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace rubato {
namespace histogram_detail {

template <std::size_t Count>
constexpr std::array<std::int64_t, Count> ends() {
  constexpr std::array<std::int64_t, 10> kR10 = {125, 160, 200, 250, 315, 400, 500, 630, 800, 1000};
  std::array<std::int64_t, Count> all{1000};  // in ns
  std::int64_t scale = 10;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    all[i + 1] = kR10[i % kR10.size()] * scale;
    if (i % kR10.size() + 1 == kR10.size()) scale *= 10;
  }
  return all;
}

}  // namespace histogram_detail

/// Ten bins a decade from 1 µs to 100 s, whose upper ends are the preferred numbers R10 (ISO 3), so that
/// 1, 2.5 and 5 of every decade are among them. A quantile that is told as the end of its bin is at most 28 %
/// too long.
class DurationHistogram {
 public:
  static constexpr std::size_t kBins = 82;  // up to 1 µs, 80 between, and longer than 100 s

  void add(Seconds duration) noexcept {
    const Seconds spent = std::max(duration, Seconds(0));
    const auto ns = static_cast<std::int64_t>(std::min(spent.value() * 1e9, 9e18));
    const auto bin = std::lower_bound(kEnds.begin(), kEnds.end(), ns) - kEnds.begin();
    ++counts_[static_cast<std::size_t>(bin)];
    ++count_;
    sum_ += spent;
    longest_ = std::max(longest_, spent);
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] Seconds sum() const { return sum_; }
  [[nodiscard]] Seconds longest() const { return longest_; }
  [[nodiscard]] std::uint64_t in(std::size_t bin) const { return counts_.at(bin); }
  /// What is in this bin took at most so long, and longer than the bin before says.
  [[nodiscard]] Seconds up_to(std::size_t bin) const {
    return bin < kEnds.size() ? Seconds(static_cast<double>(kEnds[bin]) / 1e9) : longest_;
  }

 private:
  static constexpr auto kEnds = histogram_detail::ends<kBins - 1>();

  std::array<std::uint64_t, kBins> counts_{};
  std::uint64_t count_ = 0;
  Seconds sum_{};
  Seconds longest_{};
};

}  // namespace rubato
