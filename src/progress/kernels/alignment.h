// Two stretches of a token sequence side by side, although launches are missing in one or put into the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "progress/kernels/token_table.h"

namespace rubato::progress::kernels {

/// How many launches to skip on each side until both agree again.
struct Skip {
  std::size_t first = 0;
  std::size_t second = 0;
  bool agrees = false;  // false: nothing found, one launch is taken as replaced
};

/// Where nothing agrees, ever more differences are taken as launches replaced before the next look.
class Realigner {
 public:
  /// The smallest skip after which both sides agree for a few launches. `first(i)` and `second(j)` give the
  /// tokens that lie ahead, below `first_size` and `second_size`; at 0 they differ.
  template <class First, class Second>
  [[nodiscard]] Skip skip(const First& first, std::size_t first_size, const Second& second,
                          std::size_t second_size);

 private:
  static constexpr std::size_t kFarthest = 40;  // launches skipped, both sides together
  static constexpr std::size_t kAgree = 4;      // launches that have to agree
  static constexpr std::size_t kMostFailures = 6;

  std::size_t failures_ = 0;  // one after the other
  std::size_t wait_ = 0;      // differences until the next look
};

template <class First, class Second>
Skip Realigner::skip(const First& first, std::size_t first_size, const Second& second,
                     std::size_t second_size) {
  if (wait_ > 0) {
    --wait_;
    return {.first = 1, .second = 1};
  }
  for (std::size_t far = 1; far <= kFarthest; ++far) {
    for (std::size_t a = 0; a <= far; ++a) {
      const std::size_t b = far - a;
      std::size_t same = 0;
      while (same < kAgree && a + same < first_size && b + same < second_size &&
             first(a + same) == second(b + same))
        ++same;
      if (same < kAgree) continue;
      failures_ = 0;
      return {.first = a, .second = b, .agrees = true};
    }
  }
  failures_ = std::min(failures_ + 1, kMostFailures);
  wait_ = (std::size_t{1} << failures_) - 1;
  return {.first = 1, .second = 1};
}

/// What a sequence has in common with itself `lag` launches earlier.
struct SelfMatch {
  std::size_t compared = 0;
  std::size_t matched = 0;
  std::size_t good_from = 0;  // begin of the first stretch of `lag` launches that agrees well, else the begin
  [[nodiscard]] double fraction() const {
    return compared == 0 ? 0 : static_cast<double>(matched) / static_cast<double>(compared);
  }
};

[[nodiscard]] SelfMatch match_itself(std::span<const Token> tokens, std::size_t lag);

}  // namespace rubato::progress::kernels
