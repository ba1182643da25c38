// The way back: from what a journal says to the state that was found.
#pragma once

#include "core/restoration.h"
#include "device/gpu.h"
#include "guard/journal.h"

namespace rubato::guard {

/// Puts back every knob the journal says rubato touched, each by itself: the failure of one does not stop the
/// others. A limit, or application clocks, that rubato did not set are left alone. The journal stays where
/// the outcome is `failed`.
///
/// Any order is legal on a GPU: the knobs do not constrain each other, and a lock's two ends, like the two
/// application clocks, are written by one call.
///
/// noexcept: out of memory ends the process, and then the journal is still there for the next one.
[[nodiscard]] RestorationReport restore(Journal& journal, device::Gpu& gpu,
                                        device::GpuControl& control) noexcept;

}  // namespace rubato::guard
