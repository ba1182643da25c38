// Finds out whether an energy register counts in the unit it is said to, by the power that flowed meanwhile.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/units.h"

namespace rubato::meter::mcp39f511n {

enum class UnitVerdict { open, confirmed, refuted };

class UnitCheck {
 public:
  explicit UnitCheck(Joules per_count) : per_count_(per_count) {}

  /// `power` now, and how many counts came since the last call. The first verdict that is not open stays.
  UnitVerdict add(TimePoint at, Watts power, std::uint64_t counts);
  [[nodiscard]] UnitVerdict verdict() const { return verdict_; }
  /// What a count was seen to be worth; absent while it never moved.
  [[nodiscard]] std::optional<Joules> seen_per_count() const;

 private:
  struct Last {
    TimePoint at;
    Watts power;
  };
  Joules per_count_;
  std::optional<Last> last_;
  Joules flowed_;
  double counts_ = 0;
  unsigned intervals_ = 0;
  UnitVerdict verdict_ = UnitVerdict::open;
};

}  // namespace rubato::meter::mcp39f511n
