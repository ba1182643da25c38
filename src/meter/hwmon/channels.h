// What the quantities of hwmon chips stand for, which of them an argument chooses, and what is inside what.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/meter_reading.h"
#include "meter/hwmon/chips.h"

namespace rubato::meter::hwmon {

struct ChannelFiles {
  MeterChannel channel;
  Quantity quantity;
  std::string inside_label;  // label of the quantity that holds this one; empty: none known
  std::optional<Seconds> update_interval;
};

/// "" is everything but counters of single cores; else a comma list of CHIP, CHIP/power1 or, after such a
/// one, power2. CHIP is a name ("ina226"), a name at its place ("ina226@2-0040") or a folder ("hwmon3").
/// Errors: not_found naming what there is.
[[nodiscard]] Result<std::vector<ChannelFiles>> choose_channels(const std::vector<Chip>& chips,
                                                                std::string_view argument);

}  // namespace rubato::meter::hwmon
