// A meter under test together with the thing it reads, which the test can load, break and mend: what the
// contract in contract.h needs to know of any kind.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/clock.h"
#include "meter/meter.h"

namespace rubato::meter::testing {

enum class Fault {
  silence,         // no answer at all, for longer than any patience
  garbage,         // an answer that means nothing
  half_packet,     // the first half of a good answer
  negative_power,  // less than nothing
  absurd_power,    // more than kMostWatts
  jump,            // the energy counter leaps by a gigajoule, or as far as it can
  counter_fell,    // the energy counter starts anew
  vanished,        // the file, port or server is gone
};

class Subject {
 public:
  virtual ~Subject() = default;
  /// A meter that reads what stands behind this subject; may be called again.
  [[nodiscard]] virtual Result<std::unique_ptr<Meter>> open() = 0;
  /// The clock that was given to open().
  [[nodiscard]] virtual std::shared_ptr<const Clock> clock() const = 0;
  /// Every channel draws `power` for `span` of that clock; returns when a read() can see it.
  virtual void advance(Seconds span, Watts power) = 0;
  /// The faults this subject can play; the contract plays no other.
  [[nodiscard]] virtual std::set<Fault> faults() const = 0;
  virtual void break_it(Fault fault) = 0;
  virtual void mend() = 0;
  /// The resolution of what the meter tells.
  [[nodiscard]] virtual Watts power_step() const { return Watts(0.1); }
  [[nodiscard]] virtual Joules energy_step() const { return Joules(0.1); }
};

/// One row of the contract test. `why_not` is what the test skips with where the server cannot be had.
struct SubjectCase {
  std::string name;  // letters, digits and _ only
  std::function<std::unique_ptr<Subject>(std::string& why_not)> make;
};

}  // namespace rubato::meter::testing
