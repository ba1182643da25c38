// How Zeus's power-limit optimizer chooses among the limits it has profiled (ml-energy/zeus, optimum
// selectors of zeus.optimizer.power_limit 0.16): arithmetic on one measurement per limit, nothing else.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/units.h"

namespace rubato::govern {

enum class ZeusRule {
  max_slowdown,  // MaxSlowdownConstraint: the lowest limit inside the bound; energy is not looked at
  energy,        // Energy: least energy
  time,          // Time: least time
  cost,          // ZeusCost: least eta * energy + (1 - eta) * highest power * time
};

[[nodiscard]] std::string_view name_of(ZeusRule rule);

/// One limit (or clock) and what its profiled steps cost on all GPUs: energies added up, the slowest's time.
struct ZeusProfile {
  double knob = 0;  // W or MHz
  Seconds time;
  std::optional<Joules> energy;
};

struct ZeusSelector {
  ZeusRule rule = ZeusRule::cost;
  double eta = 0.5;  // of cost
  /// Of cost: the price of a second, before eta: the highest limit times the number of GPUs.
  Watts highest_power;
  /// Longest time over the first profile's. Of max_slowdown; of the others it leaves out what breaks it,
  /// which Zeus does not do.
  std::optional<double> slowdown_factor;

  /// Of profiles from the highest knob down; of equals the highest. Nothing where the rule needs an energy
  /// and no profile has one, or where there is no profile.
  [[nodiscard]] std::optional<std::size_t> select(std::span<const ZeusProfile> profiles) const;

  /// "the lowest within 1.05 times the time at 250 W"
  [[nodiscard]] std::string describe(std::string_view reference) const;
};

}  // namespace rubato::govern
