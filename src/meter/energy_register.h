// An energy register with a name: what it adds to a reading, and the words for what went wrong with it.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/meter_reading.h"
#include "meter/register_unwrap.h"

namespace rubato::meter {

class EnergyRegister {
 public:
  /// `who` begins every message: "rapl, package-0 (/sys/…/energy_uj)".
  EnergyRegister(std::string who, RegisterUnwrap unwrap) : who_(std::move(who)), unwrap_(unwrap) {}

  struct Told {
    std::optional<Joules> energy;
    std::optional<Error> trouble;
  };
  Told add(std::uint64_t count, TimePoint at);

 private:
  std::string who_;
  RegisterUnwrap unwrap_;
};

/// Whether `power` can be what one channel draws. The error names `who`, what was found and what is possible.
[[nodiscard]] Status possible_power(const std::string& who, Watts power);

}  // namespace rubato::meter
