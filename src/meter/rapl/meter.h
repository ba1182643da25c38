// Energy of CPU packages, cores, memory and platform by the kernel's powercap tree (Intel RAPL; AMD's
// registers appear in the same tree).
#pragma once

#include "meter/meter.h"

namespace rubato::meter::rapl {

[[nodiscard]] const MeterKind& kind();

}  // namespace rubato::meter::rapl
