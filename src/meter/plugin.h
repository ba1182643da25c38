// Kinds of meter that live in modules, because their libraries are heavy: found, opened at first use, checked
// to be of this build, and kept for the life of the program.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "meter/meter.h"

namespace rubato::meter {

/// Where modules are looked for, in this order: each folder of $RUBATO_METER_PATH, then lib/rubato beside the
/// program's own folder (the same in a build tree, in a release and once installed).
[[nodiscard]] std::vector<std::filesystem::path> module_folders();

/// The kind in librubato-meter-NAME.so; `package` is the Debian package of the library it needs. Errors:
/// not_supported where there is no module, its library is missing or it is of another build. Thread-safe.
[[nodiscard]] Result<const MeterKind*> load_kind(std::string_view name, std::string_view package,
                                                 const std::vector<std::filesystem::path>& folders);

}  // namespace rubato::meter
