// The governor while it holds: which setting that is not known well is worth a look.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "govern/rubato/governor.h"
#include "govern/rubato/pace.h"
#include "plan/reached.h"

namespace rubato::govern {
namespace {

// Relative standard error of a setting's energy from which on a look tells nothing new.
constexpr double kKnownEnergy = 0.002;
// Standard errors that speak for a setting which may be better.
constexpr double kCheckOptimism = 1.5;
constexpr double kCheckGain = 0.003;
// What a look gains is gained over this share of the run so far: it may end, or be looked at again, before as
// long a run again is over.
constexpr double kGainedOver = 0.25;

}  // namespace

// What is expected to gain finds what lies beside the settings that are known, and with two knobs between
// them; what may be better at all, where so little is known that nothing is expected.
std::optional<std::size_t> Governor::to_check(const Observation& o) {
  if (program().checks++ % 2 == 0)
    if (const auto setting = expected_to_gain(o)) return setting;
  return may_be_better(o);
}

std::optional<std::size_t> Governor::expected_to_gain(const Observation& o) const {
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
  const plan::Reached reached = plan::reached(belief, goal, board, allowed, measured, options_.shares);
  const Eigen::VectorXd gains =
      belief.expected_gains(reached, delay_exponent(goal.objective), share_of_time(goal, board));
  // Of the energy of a look, with errors of time and power alike.
  const double noise =
      program().history().time_error(static_cast<double>(pace::kCheck.iterations)) * std::numbers::sqrt2;
  const double length = pace::length_of(pace::kCheck, program().unit()).value();
  std::optional<std::size_t> best;
  double most = 0;
  for (std::size_t i = 0; i < belief.size(); ++i) {
    const double open = belief.log_energy_deviation(i);
    if (i == found_ || open <= kKnownEnergy) continue;
    const double told = open / std::hypot(open, noise);
    const double gained = gains[static_cast<Eigen::Index>(i)] * told * program().ran().value() * kGainedOver;
    if (gained <= most) continue;
    // What is reached already is lost while it lasts.
    const double saving = 1 - plan::objective_ratio(belief, i, goal, board);
    const double lost = length * std::max(0.0, reached.at(belief.time(i) - 1) - saving);
    // Nothing tells before it is over, so what is not known of the setting counts whole.
    if (gained - lost <= most || !can_pay_look(o, i, measured, all, 1)) continue;
    most = gained - lost;
    best = i;
  }
  return best;
}

std::optional<std::size_t> Governor::may_be_better(const Observation& o) const {
  const plan::CurveBelief& belief = program().belief();
  // Asked of every setting.
  const std::vector<std::size_t> measured = measured_settings();
  const plan::Account now = account();
  const std::function<bool(std::size_t)> may = [&](std::size_t i) {
    return std::binary_search(measured.begin(), measured.end(), i) ||
           can_pay_look(o, i, measured, now, rules().own_part);
  };
  const plan::Spending best =
      plan::spend(belief, options_.goal, program().board(), share_of_account(now, given(now)),
                  {.caution = 0, .optimism = kCheckOptimism, .may = &may});
  const auto unknown = [&](std::size_t i) {
    return i != found_ && belief.log_energy_deviation(i) > kKnownEnergy;
  };
  if (options_.shares && best.share && best.share->gain > kCheckGain) {
    if (unknown(best.share->slower)) return best.share->slower;
    if (unknown(best.share->faster)) return best.share->faster;
  }
  if (unknown(best.setting)) return best.setting;
  return std::nullopt;
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
                            const std::vector<std::size_t>& measured, const plan::Account& account,
                            double own_part) const {
  const StretchNeeds& needs = pace::kCheck;
  const double slower = std::exp(std::max(0.0, slowest_by_clock(setting, measured)));
  const Seconds stretch = std::max({needs.time, o.sensor_period * needs.sensor_updates,
                                    program().unit() * (slower * static_cast<double>(needs.iterations))});
  // On the way there the setting held goes on; on the way back this one does.
  const double length = (stretch + pace::kDrains + visit_.latency()).value();
  plan::SpendingRules rules = this->rules();
  rules.own_part = own_part;
  const double lost =
      std::max(plan::most_lost(program().belief(), setting, rules), slower > 1 ? 1 - 1 / slower : 0.0);
  return account.lost + length * lost <= account.bound * (account.work + length);
}

}  // namespace rubato::govern
