// An energy register at the far end of a network, which may leap: a device replaced, a unit changed, a bit
// turned.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "meter/energy_register.h"
#include "meter/meter.h"

namespace rubato::meter {

/// As EnergyRegister; more energy than `kMostWatts` could have brought is not handed on, and the sum starts
/// anew, which reads as a counter's reset.
class WatchedRegister {
 public:
  /// `top`: the highest count the register shows before it turns; absent where it never does. `step`: by how
  /// much it moves at once.
  WatchedRegister(std::string who, double joules_per_count, std::optional<std::uint64_t> top, Joules step)
      : who_(std::move(who)),
        joules_per_count_(joules_per_count),
        top_(top),
        step_(step),
        register_(fresh()) {}

  [[nodiscard]] double joules_per_count() const { return joules_per_count_; }

  EnergyRegister::Told add(std::uint64_t count, TimePoint at) {
    auto told = register_.add(count, at);
    if (!told.energy) return told;
    const auto before = std::exchange(last_, Last{*told.energy, at});
    if (!before) return told;
    const Joules flowed = *told.energy - before->sum;
    const Seconds since = at - before->at;
    if (flowed <= kMostWatts * since + step_) return told;
    register_ = fresh();
    last_ = Last{*register_.add(count, at).energy, at};
    return {.trouble = Error{
                ErrorCode::corrupt, cat(who_, ": the register leapt by ", flowed, " in ", since),
                "counting starts anew, what flowed meanwhile is missing; check unit and scale if it comes "
                "again"}};
  }

 private:
  struct Last {
    Joules sum;
    TimePoint at;
  };
  [[nodiscard]] EnergyRegister fresh() const {
    return {who_, RegisterUnwrap(joules_per_count_, top_, kMostWatts)};
  }

  std::string who_;
  double joules_per_count_;
  std::optional<std::uint64_t> top_;
  Joules step_;
  EnergyRegister register_;
  std::optional<Last> last_;
};

}  // namespace rubato::meter
