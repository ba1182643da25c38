// The most that anything with one energy counter can draw: a counter that rises faster does not tell the
// truth.
#pragma once

#include "base/units.h"
#include "core/kind.h"

namespace rubato {

/// The largest superchip's module limit is 2.9 kW (NVIDIA/k8s-test-infra #676); at a wall may hang a rack.
[[nodiscard]] constexpr Watts most_power(Scope scope) {
  const bool one_board = scope == Scope::gpu || scope == Scope::module || scope == Scope::memory;
  return one_board ? Watts(5e3) : Watts(1e6);
}

}  // namespace rubato
