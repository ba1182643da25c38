// The governor while it holds: which setting that is not known well may be worth a look.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "govern/rubato/governor.h"
#include "govern/rubato/pace.h"
#include "plan/reached.h"

namespace rubato::govern {
namespace {

// Relative standard error of a setting's energy from which on a look tells nothing new.
constexpr double kKnownEnergy = 0.002;
// What a look gains is gained over this share of the run so far: it may end, or be looked at again, before as
// long a run again is over.
constexpr double kGainedOver = 0.5;

/// Powers of time in the objective, beside energy.
double delay_of(Objective objective) {
  if (objective == Objective::edp) return 1;
  return objective == Objective::ed2p ? 2 : 0;
}

}  // namespace

std::optional<std::size_t> Governor::to_check(const Observation& o) const {
  const plan::CurveBelief& belief = program().belief();
  const Goal& goal = options_.goal;
  const Watts board = program().board();
  const plan::Account all = account();
  const plan::SpendingRules rules = this->rules();
  // The margin for the found setting's own error is taken of what is allowed, whatever is held.
  const double allowed =
      std::expm1(std::log1p(share_of_account(all, given(all)).allowed()) - rules.caution * rules.common);
  if (!(allowed > 0)) return std::nullopt;
  const std::vector<std::size_t> measured = measured_settings();
  const plan::Reached reached = plan::reached(belief, goal, board, allowed, measured);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < belief.size(); ++i)
    if (i != found_ && belief.log_energy_deviation(i) > kKnownEnergy && can_pay_look(o, i, measured, all))
      open.push_back(i);
  const Eigen::VectorXd gains =
      belief.expected_gains(open, reached, delay_of(goal.objective), share_of_time(goal, board));
  // Of the energy of a look, with errors of time and power alike.
  const double noise =
      program().history().time_error(static_cast<double>(pace::kCheck.iterations)) * std::numbers::sqrt2;
  const double length =
      (program().unit() * static_cast<double>(pace::kCheck.iterations + 3) + pace::kDrains).value();
  std::optional<std::size_t> best;
  double most = 0;
  for (std::size_t k = 0; k < open.size(); ++k) {
    const double open_energy = belief.log_energy_deviation(open[k]);
    const double told = open_energy / std::hypot(open_energy, noise);
    const double gained = gains[static_cast<Eigen::Index>(k)] * told * program().ran().value() * kGainedOver;
    // What is reached already is lost while it lasts.
    const double saving = 1 - plan::objective_ratio(belief, open[k], goal, board);
    const double lost = length * std::max(0.0, reached.at(belief.time(open[k]) - 1) - saving);
    if (gained - lost <= most) continue;
    most = gained - lost;
    best = open[k];
  }
  return best;
}

std::vector<std::size_t> Governor::measured_settings() const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < settings_.size(); ++i)
    if (program().history().measured(i)) out.push_back(i);
  return out;
}

double Governor::slowest_by_clock(std::size_t setting, const std::vector<std::size_t>& measured) const {
  const plan::CurveBelief& belief = program().belief();
  const auto& clock = belief.at(setting).sm_clock;
  if (!clock) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t i : measured) {
    const auto& from = belief.at(i).sm_clock;
    if (from && *from < *clock) continue;
    const Megahertz top = from.value_or(options_.space.highest.sm_clock.value_or(*clock));
    least = std::min(least, belief.log_time(i) + std::log(top / *clock));
  }
  return std::isfinite(least) ? least : 0;
}

bool Governor::can_pay_look(const Observation& o, std::size_t setting,
                            const std::vector<std::size_t>& measured, const plan::Account& account) const {
  const StretchNeeds& needs = pace::kCheck;
  const double slower = std::exp(std::max(0.0, slowest_by_clock(setting, measured)));
  const Seconds stretch = std::max({needs.time, o.sensor_period * needs.sensor_updates,
                                    program().unit() * (slower * static_cast<double>(needs.iterations))});
  // On the way there the setting held goes on; on the way back this one does.
  const double length = (stretch + pace::kDrains + visit_.latency()).value();
  // Nothing tells before it is over, so what is not known of the setting counts whole.
  plan::SpendingRules rules = this->rules();
  rules.own_part = 1;
  const double lost =
      std::max(plan::most_lost(program().belief(), setting, rules), slower > 1 ? 1 - 1 / slower : 0.0);
  return account.lost + length * lost <= account.bound * (account.work + length);
}

}  // namespace rubato::govern
