// Whether iterations have stopped getting faster or slower, as they do while caches fill and kernels are
// tuned.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "govern/strategy.h"

namespace rubato::govern {

class Steadiness {
 public:
  void restart() { seen_.clear(); }
  void look(const Observation& o);
  /// The latest iterations took as long as those just before them, within a tenth.
  [[nodiscard]] bool steady() const;

 private:
  std::deque<std::pair<std::int64_t, TimePoint>> seen_;  // iterations completed, and when the latest ended
};

}  // namespace rubato::govern
