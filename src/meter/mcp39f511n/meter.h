// Microchip's MCP39F511N, a power meter of two mains channels on USB serial.
#pragma once

#include "meter/meter.h"

namespace rubato::meter::mcp39f511n {

[[nodiscard]] const MeterKind& kind();

}  // namespace rubato::meter::mcp39f511n
