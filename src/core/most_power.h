// The most that anything with one energy counter can draw: a counter that rises faster does not tell the
// truth.
#pragma once

#include "base/units.h"
#include "core/kind.h"

namespace rubato {

/// The largest superchip's module limit is 2.9 kW (NVIDIA/k8s-test-infra #676), and a CPU's package draws
/// less; at a wall may hang a rack.
[[nodiscard]] constexpr Watts most_power(Scope scope) {
  switch (scope) {
    case Scope::platform:
    case Scope::node:
    case Scope::rail:
      return Watts(1e6);
    default:
      return Watts(5e3);
  }
}

}  // namespace rubato
