#include "plan/setting_of.h"

namespace rubato::plan {

Setting setting_of(const predict::KnobPoint& at) {
  Setting out;
  out.power_limit = at.power_limit;
  if (at.sm_clock) out.sm_clock = ClockRange{*at.sm_clock, *at.sm_clock};
  if (at.memory_clock) out.memory_clock = ClockRange{*at.memory_clock, *at.memory_clock};
  return out;
}

}  // namespace rubato::plan
