// The entry of this kind of meter, for the registry and for tests.
#pragma once

#include "meter/meter.h"

namespace rubato::meter::ipmi {

[[nodiscard]] const MeterKind& kind();

}  // namespace rubato::meter::ipmi
