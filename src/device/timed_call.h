// Counts a call into a driver and the time spent inside it.
#pragma once

#include <type_traits>

#include "base/clock.h"
#include "core/sample.h"

namespace rubato::device {

/// Wall time, whatever clock the GPU lives on: it is what the call costs the machine.
template <class Call>
std::invoke_result_t<Call&> timed_call(CallCost& cost, Call call) {
  const RealClock wall;
  const TimePoint begin = wall.now();
  auto result = call();
  cost.inside += wall.now() - begin;
  ++cost.calls;
  return result;
}

}  // namespace rubato::device
