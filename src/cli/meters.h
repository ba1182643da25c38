// From --meter to open meters, with the words a user needs when that fails.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "meter/meter.h"

namespace rubato::cli {

struct OpenMeters {
  std::vector<std::unique_ptr<meter::Meter>> meters;
  std::vector<Error> left_out;  // those that could not be had
  bool stuck = false;           // one hangs while it is opened: leave by conduct::leave_now()
};

/// What was typed and cannot work is an error, before the job starts: invalid_argument, not_found, corrupt. A
/// meter that cannot be had now is a warning and costs only itself.
[[nodiscard]] Result<OpenMeters> open_meters(const std::vector<std::string>& specs,
                                             std::shared_ptr<const Clock> clock);

/// Every meter that can be had here, or could but for something. A bad meters.toml is told in `complaint`.
[[nodiscard]] std::vector<meter::FoundMeter> meters_here(std::optional<Error>& complaint);

}  // namespace rubato::cli
