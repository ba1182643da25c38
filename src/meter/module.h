// The contract between rubato and a kind of meter that lives in a library of its own, opened at first use.
// Such a kind defines the function `kind()` in namespace rubato::meter::NAME; module_entry.cpp makes it an
// entry.
#pragma once

#include "meter/meter.h"

namespace rubato::meter {

/// What must be the same on both sides, because C++ types cross the border: the stamp is of the same build.
inline constexpr const char* kModuleBuild = RUBATO_METER_BUILD;
inline constexpr const char* kModuleEntry = "rubato_meter_kind";

/// Null where `build` is not the module's own.
using ModuleEntry = const MeterKind* (*)(const char* build);

}  // namespace rubato::meter
