// Compiled once per module with RUBATO_METER_NAME, the module's namespace.
#include <cstring>

#include "meter/module.h"

namespace rubato::meter::RUBATO_METER_NAME {
const MeterKind& kind();
}

extern "C" __attribute__((visibility("default"))) const rubato::meter::MeterKind* rubato_meter_kind(
    const char* build) {
  if (std::strcmp(build, rubato::meter::kModuleBuild) != 0) return nullptr;
  return &rubato::meter::RUBATO_METER_NAME::kind();
}
