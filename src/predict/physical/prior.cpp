#include "predict/physical/prior.h"

namespace rubato::predict::physical {

const Prior& starting_prior() {
  static const Prior prior = [] {
    Prior p;
    const auto set = [&p](Parameter which, double mean, double deviation) {
      p.mean[which] = mean;
      p.deviation[which] = deviation;
    };
    set(log_time, 0.0, 0.3);
    set(log_power, 0.05, 0.3);
    set(compute_share, 0.5, 1.5);
    set(fixed_share, -1.5, 1.2);
    set(static_share, -1.2, 0.6);
    set(memory_share, -1.5, 0.7);
    set(work_coupling, 0.0, 1.0);
    set(voltage_knee, 0.5, 0.5);
    set(voltage_floor, 0.3, 0.5);
    set(phase_spread, -1.6, 0.5);
    set(clock_floor, -2.2, 0.4);
    set(sharpness, 1.0, 0.5);
    set(cap_margin, 0.0, 0.03);
    return p;
  }();
  return prior;
}

}  // namespace rubato::predict::physical
