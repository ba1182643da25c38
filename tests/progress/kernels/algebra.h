// Short stories about sequences of kernels: each letter is one kernel of 1 ms, a space takes no time.
#pragma once

#include <string>
#include <string_view>

#include "progress/kernel_sequence.h"

namespace rubato::progress::kernels {

inline constexpr std::string_view kTen = "ABCDEFGHIJ";

inline std::string times(std::string_view what, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += what;
  return out;
}

class Teller {
 public:
  KernelSequence sequence;
  TimePoint now{1'000'000'000};
  KernelRecord next;  // what the following records have in common

  void play(std::string_view letters) {
    for (const char c : letters) {
      if (c == ' ') continue;
      next.begin = now;
      next.end = now + Seconds(0.0008);
      next.name_hash = static_cast<unsigned char>(c);
      sequence.add(next);
      next.lost_before = 0;
      now = now + Seconds(0.001);
    }
  }
  void pause(double seconds) { now = now + Seconds(seconds); }
  [[nodiscard]] std::optional<IterationEstimate> estimate() const { return sequence.estimate(); }
  [[nodiscard]] std::optional<std::uint64_t> launches() const {
    const auto e = sequence.estimate();
    return e ? e->launches : std::nullopt;
  }
  [[nodiscard]] double confidence() const {
    const auto e = sequence.estimate();
    return e ? e->confidence : 0;
  }
};

}  // namespace rubato::progress::kernels
