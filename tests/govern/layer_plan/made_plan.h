// Plans and kernel records for tests: three passes whose lengths fit in the head.
#pragma once

#include "core/kernel_record.h"
#include "plan/layers/layer_plan.h"

namespace rubato::govern {

inline TimePoint at_s(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

constexpr predict::Clocks kFast{Megahertz(1500), Megahertz(7001)};
constexpr predict::Clocks kSlow{Megahertz(900), Megahertz(7001)};
constexpr predict::Clocks kMiddle{Megahertz(1200), Megahertz(7001)};

/// One second: 0.3 forward at kFast, 0.6 backward at kSlow, 0.1 optimizer at kFast.
inline plan::LayerPlan made_plan() {
  plan::LayerPlan plan;
  plan.board = "NVIDIA RTX A4000";
  plan.network = "made";
  plan.batch = 1;
  plan.strategy = "phase";
  plan.single = kMiddle;
  plan.at_default = {Seconds(0.95), Joules(110)};
  plan.at_single = {Seconds(1), Joules(100)};
  plan.planned = {Seconds(1), Joules(95)};
  plan.switching_delay = Seconds(0.02);
  plan.dwell = Seconds(0.05);
  plan.phases = {{"conv1", "fc", LayerPass::forward, kFast, Seconds(0.3), Joules(30)},
                 {"fc", "conv1", LayerPass::backward, kSlow, Seconds(0.6), Joules(55)},
                 {"sgd", "sgd", LayerPass::optimizer, kFast, Seconds(0.1), Joules(10)}};
  return plan;
}

/// Ids of phases, as marks number them: forward 1, backward 2, optimizer 3.
inline KernelRecord kernel(double begin_s, double end_s, std::uint64_t layer) {
  return {.begin = at_s(begin_s), .end = at_s(end_s), .name_hash = layer, .layer = layer};
}

/// Records of one iteration of `length` that begins at `begin_s`, passes as in made_plan() unless told.
template <class Clock>
void run_iteration(Clock& clock, double begin_s, double length = 1, double backward = 0.3,
                   double optimizer = 0.9) {
  for (int i = 0; i < 3; ++i) {
    const double part = backward / 3;
    clock.add(kernel(begin_s + i * part * length, begin_s + (i + 0.9) * part * length, 1));
  }
  for (int i = 0; i < 3; ++i) {
    const double part = (optimizer - backward) / 3;
    clock.add(kernel(begin_s + (backward + i * part) * length,
                     begin_s + (backward + (i + 0.9) * part) * length, 2));
  }
  clock.add(kernel(begin_s + optimizer * length, begin_s + 0.99 * length, 3));
}

}  // namespace rubato::govern
