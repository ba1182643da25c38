#include "govern/layer_plan/payoff.h"

#include <algorithm>
#include <cmath>

#include "base/percent.h"
#include "base/text.h"
#include "progress/shift/threshold.h"
#include "progress/stats.h"

namespace rubato::govern {
namespace {

constexpr double kNormal95 = 1.96;
// Blocks of the plan before its slowdown is believed to break the bound.
constexpr std::size_t kPairsForBound = 3;
// Of the single setting: as many, and never more of the past than this.
constexpr std::size_t kHeldForBound = 3;
constexpr std::size_t kMostHeld = 100;
constexpr double kNormal95OneSided = 1.645;

}  // namespace

void ArmCosts::add(const Cost& cost) {
  work_ += cost.work;
  time_ += cost.work * cost.time;
  if (!cost.energy)
    energy_.reset();
  else if (energy_)
    *energy_ += cost.work * *cost.energy;
}

std::optional<Seconds> ArmCosts::time() const {
  if (work_ <= 0) return std::nullopt;
  return time_ / work_;
}

std::optional<Joules> ArmCosts::energy() const {
  if (work_ <= 0 || !energy_) return std::nullopt;
  return *energy_ / work_;
}

void Payoff::pair(const Cost& single, const Cost& plan) {
  single_.add(single);
  plan_.add(plan);
  if (single.energy && plan.energy) pairs_.push_back({single, plan});
}

void Payoff::held(const Cost& cost) {
  held_.push_back(cost);
  if (held_.size() > kMostHeld) held_.erase(held_.begin());
}

std::optional<std::string> Payoff::why_not_single() const {
  if (held_.size() < kHeldForBound || !found_.time()) return std::nullopt;
  progress::Moments slower;
  progress::Moments saved;  // joules an iteration
  double work = 0;
  for (const Cost& cost : held_) {
    slower.add(cost.time / *found_.time() - 1);
    if (cost.energy && found_.energy())
      saved.add((*found_.energy() - *cost.energy - rules_.host * (cost.time - *found_.time())).value());
    work += cost.work;
  }
  const auto n = static_cast<double>(held_.size());
  // The found setting was measured over as much work as so many of these blocks, with the same scatter.
  const double found_blocks = found_.work() / (work / n);
  const auto half = [&](const progress::Moments& of) {
    return progress::as_student(kNormal95OneSided, n - 1) *
           std::sqrt(of.variance().value_or(0) * (1 / n + 1 / found_blocks));
  };
  if (*slower.mean() - half(slower) > rules_.max_slowdown)
    return cat("the single setting is ", short_percent(*slower.mean(), 2),
               " slower than the found one here, more than the ", short_percent(rules_.max_slowdown, 2),
               " allowed: the found setting is kept");
  if (saved.count() == held_.size() && *saved.mean() + half(saved) < 0)
    return cat("the single setting takes ", short_percent(-*saved.mean() / found_.energy()->value(), 2),
               " more energy than the found one here: the found setting is kept");
  return std::nullopt;
}

void Payoff::forget() {
  found_ = {};
  single_ = {};
  plan_ = {};
  pairs_.clear();
  held_.clear();
}

double Payoff::slowdown(const ArmCosts& arm) const {
  return *arm.time() / *found_.time() - 1;
}

Watts Payoff::price_of_a_second() const {
  const Seconds lost = *single_.time() - *found_.time();
  const Joules saved = *found_.energy() - *single_.energy();
  if (lost <= Seconds(0) || saved <= Joules(0)) return rules_.host;
  return std::max(rules_.host, saved / lost);
}

PayoffVerdict Payoff::fall_back(const std::string& why) const {
  const double slower = slowdown(single_);
  if (slower > rules_.max_slowdown)
    return {Keep::found, cat(why, "; the single setting is ", short_percent(slower, 2),
                             " slower than the found one, more than the ",
                             short_percent(rules_.max_slowdown, 2), " allowed: the found setting is kept")};
  const Joules saved =
      *found_.energy() - *single_.energy() - rules_.host * (*single_.time() - *found_.time());
  if (saved <= Joules(0))
    return {Keep::found,
            cat(why, "; the single setting saves nothing against the found one either (", *single_.energy(),
                " an iteration against ", *found_.energy(), "): the found setting is kept")};
  return {Keep::single, cat(why, "; the single setting is kept, which saves ",
                            short_percent(1 - *single_.energy() / *found_.energy(), 2), " and is ",
                            short_percent(slower, 2), " slower than the found one")};
}

std::optional<PayoffVerdict> Payoff::verdict() const {
  if (pairs_.empty() || !found_.time() || !found_.energy() || !single_.energy() || !plan_.energy())
    return std::nullopt;
  const double slower = slowdown(plan_);
  if (pairs_.size() >= kPairsForBound && slower > rules_.max_slowdown)
    return fall_back(cat("with the plan an iteration takes ", short_percent(slower, 2),
                         " longer than at the found setting, more than the ",
                         short_percent(rules_.max_slowdown, 2), " allowed"));
  if (pairs_.size() < rules_.fewest_pairs) return std::nullopt;
  const Watts price = price_of_a_second();
  progress::Moments gains;  // joules an iteration
  for (const Pair& pair : pairs_)
    gains.add(
        (*pair.single.energy - *pair.plan.energy - price * (pair.plan.time - pair.single.time)).value());
  const double n = static_cast<double>(gains.count());
  const double half = progress::as_student(kNormal95, n - 1) * std::sqrt(gains.variance().value_or(0) / n);
  const double gain = *gains.mean();
  const double whole = single_.energy()->value();
  const std::string figures = cat(short_percent(gain / whole, 2), " +- ", short_percent(half / whole, 2),
                                  " of an iteration's energy at equal time, over ", gains.count(),
                                  " pairs of blocks (a second counts ", number(price.value(), 1), " J)");
  if (gain - half > 0)
    return PayoffVerdict{Keep::plan,
                         cat("the plan pays: against the single setting it saves ", figures, ", and is ",
                             short_percent(slower, 2), " slower than the found one")};
  if (gain + half < 0) return fall_back(cat("the plan does not pay: it saves ", figures));
  if (pairs_.size() < rules_.most_pairs) return std::nullopt;
  return fall_back(cat("the plan is not seen to pay: it saves ", figures));
}

}  // namespace rubato::govern
