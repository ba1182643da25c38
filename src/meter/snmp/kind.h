// The entry of this kind of meter, for the registry and for tests.
#pragma once

#include "meter/meter.h"

namespace rubato::meter::snmp {

[[nodiscard]] const MeterKind& kind();

}  // namespace rubato::meter::snmp
