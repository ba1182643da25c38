// Every kind of meter, and the way from --meter SPEC to an open one.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "meter/meter.h"

namespace rubato::meter {

[[nodiscard]] std::span<const MeterKind> kinds();

/// KIND or KIND:ARGUMENT. Errors: invalid_argument naming the kinds there are; what the kind's own open()
/// says.
[[nodiscard]] Result<std::unique_ptr<Meter>> open_meter(std::string_view spec, const Surroundings& around);

/// What could be read on this machine, and what is configured.
[[nodiscard]] std::vector<FoundMeter> find_meters(const Surroundings& around);

/// $RUBATO_METERS, else $XDG_CONFIG_HOME/rubato/meters.toml, else ~/.config/rubato/meters.toml,
/// else /etc/rubato/meters.toml. No file is no tables. Errors: corrupt naming file, line and what was
/// expected; no_permission where others may read a file that holds a password.
[[nodiscard]] Result<std::vector<MeterTable>> read_meter_tables();
[[nodiscard]] Result<std::vector<MeterTable>> read_meter_tables(const std::filesystem::path& file);

}  // namespace rubato::meter
