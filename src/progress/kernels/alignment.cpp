#include "progress/kernels/alignment.h"

#include <algorithm>
#include <optional>

namespace rubato::progress::kernels {
namespace {

constexpr std::size_t kPriceOfSkip = 3;
constexpr std::size_t kEarlyLook = 2048;  // launches after which a hopeless lag is given up
constexpr double kHopeless = 0.4;
constexpr double kGood = 0.9;

}  // namespace

SelfMatch match_itself(std::span<const Token> tokens, std::size_t lag) {
  SelfMatch match;
  if (lag == 0 || lag >= tokens.size()) return match;
  Realigner realigner;
  // More than this astray: back to the lag.
  const std::size_t widest = std::min(std::max<std::size_t>(4, lag / 8), lag / 2);
  std::size_t i = 0;
  std::size_t j = lag;
  std::size_t stretch = 0;  // begin of the present stretch of `lag` launches, on the earlier side
  std::size_t in_stretch = 0;
  std::optional<std::size_t> good;
  while (j < tokens.size()) {
    if (tokens[i] == tokens[j]) {
      ++match.matched;
      ++match.compared;
      ++in_stretch;
      ++i;
      ++j;
    } else {
      const Skip skip = realigner.skip([&](std::size_t k) { return tokens[i + k]; }, j - i,
                                       [&](std::size_t k) { return tokens[j + k]; }, tokens.size() - j);
      match.compared += std::max(skip.first, skip.second);
      // That some launches agree again is worth little: chance finds such places where few kernels alternate.
      if (skip.agrees) match.matched -= std::min(match.matched, kPriceOfSkip);
      i += skip.first;
      j += skip.second;
      const std::size_t apart = j - i;
      if (i >= j || apart > lag + widest || apart + widest < lag) i = j - lag;
    }
    if (i >= stretch + lag) {
      if (!good && static_cast<double>(in_stretch) >= kGood * static_cast<double>(lag)) good = stretch;
      stretch = i;
      in_stretch = 0;
    }
    if (match.compared > kEarlyLook && match.compared > lag && match.fraction() < kHopeless) break;
  }
  match.compared = std::max<std::size_t>(match.compared, 1);
  match.good_from = good.value_or(0);
  return match;
}

}  // namespace rubato::progress::kernels
