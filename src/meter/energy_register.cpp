#include "meter/energy_register.h"

#include <cmath>

#include "base/text.h"
#include "meter/meter.h"

namespace rubato::meter {

EnergyRegister::Told EnergyRegister::add(std::uint64_t count, TimePoint at) {
  switch (unwrap_.add(count, at)) {
    case RegisterStep::first:
    case RegisterStep::advanced:
    case RegisterStep::wrapped:
      return {.energy = unwrap_.total()};
    case RegisterStep::gap:
      return {
          .energy = unwrap_.total(),
          .trouble = Error{ErrorCode::unavailable,
                           cat(who_, ": not read for so long that its register, which can be full after ",
                               *unwrap_.safe_span(),
                               ", may have started again more than once; the energy until "
                               "now is unknown and counting starts anew"),
                           "nothing needs doing; if it comes again, something stops rubato from running"}};
    case RegisterStep::fell:
      return {.energy = unwrap_.total(),
              .trouble =
                  Error{ErrorCode::conflict,
                        cat(who_, ": the register fell to ", count,
                            ", and it is not full that soon; counting starts anew"),
                        "nothing needs doing: the run record shows a gap; a suspend or another program that "
                        "resets the meter does this"}};
    case RegisterStep::too_high:
      return {.trouble =
                  Error{ErrorCode::corrupt, cat(who_, ": found ", count, ", above the register's own top"),
                        "the reading is left out; see docs/meters.md for how this meter was checked"}};
  }
  return {};
}

Status possible_power(const std::string& who, Watts power) {
  if (std::isfinite(power.value()) && power >= Watts(0) && power <= kMostWatts) return {};
  return fail(ErrorCode::corrupt, cat(who, ": found ", power, ", needed 0 W to ", kMostWatts),
              "the reading is left out; check the meter's wiring and its unit and scale");
}

}  // namespace rubato::meter
