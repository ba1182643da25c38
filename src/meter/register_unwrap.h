// An energy register that starts again at zero when it is full, as a sum that never loses a turn it can know
// of.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/units.h"

namespace rubato::meter {

/// How one reading follows the last.
enum class RegisterStep {
  first,
  advanced,
  wrapped,   // once; the turn is in the sum
  gap,       // so long since the last reading that it may have turned more than once: the sum starts anew
  fell,      // lower, and no wrap explains it: the sum starts anew
  too_high,  // above the register's top: not used
};

/// The sum starts anew at zero after a gap or a fall, which reads as the reset of a counter: what flowed
/// meanwhile is unknown, and no number stands for it.
class RegisterUnwrap {
 public:
  /// `top` is the highest value the register shows before it turns; absent where it never does. `most` is the
  /// highest power that can be true: it bounds how long a turn may take.
  RegisterUnwrap(double joules_per_count, std::optional<std::uint64_t> top, Watts most)
      : joules_per_count_(joules_per_count), top_(top), most_(most) {}

  RegisterStep add(std::uint64_t count, TimePoint at);
  [[nodiscard]] Joules total() const { return Joules(static_cast<double>(counts_) * joules_per_count_); }
  /// After this long without a reading a turn can be missed; absent where the register does not turn.
  [[nodiscard]] std::optional<Seconds> safe_span() const;

 private:
  struct Last {
    std::uint64_t count;
    TimePoint at;
  };
  double joules_per_count_;
  std::optional<std::uint64_t> top_;
  Watts most_;
  std::optional<Last> last_;
  std::uint64_t counts_ = 0;
};

}  // namespace rubato::meter
