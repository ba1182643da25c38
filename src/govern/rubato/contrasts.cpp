#include "govern/rubato/contrasts.h"

#include <algorithm>
#include <cmath>

namespace rubato::govern {
namespace {

/// Weighed by work; `when` of both from the same origin.
void merge(plan::MeasuredStretch& into, const plan::MeasuredStretch& other) {
  const double part = other.work / (into.work + other.work);
  into.when = into.when + (other.when - into.when) * part;
  into.log_time += part * (other.log_time - into.log_time);
  into.log_power += part * (other.log_power - into.log_power);
  into.work += other.work;
}

}  // namespace

plan::MeasuredStretch* Contrasts::row_of(std::size_t setting) {
  const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const auto& r) { return r.at == setting; });
  return row == rows_.end() ? nullptr : &*row;
}

void Contrasts::add(const plan::MeasuredStretch& at_found, std::span<const plan::MeasuredStretch> beside) {
  // One row a setting, as far from the found one in time as its stretches are in the mean.
  std::vector<plan::MeasuredStretch> group{at_found};
  for (plan::MeasuredStretch s : beside) {
    s.when = at_found.when + Seconds(std::abs((s.when - at_found.when).value()));
    const auto same = std::find_if(group.begin(), group.end(), [&](const auto& g) { return g.at == s.at; });
    if (same == group.end()) {
      group.push_back(s);
    } else {
      merge(*same, s);
    }
  }
  double weight = 0;
  double time = 0;
  double power = 0;
  for (const auto& g : group)
    if (const auto* row = row_of(g.at)) {
      const double w = 1 / (1 / row->work + 1 / g.work);
      weight += w;
      time += w * (row->log_time - g.log_time);
      power += w * (row->log_power - g.log_power);
    }
  if (!rows_.empty() && weight <= 0) return;
  const auto* origin = row_of(found_);
  const Seconds shift = origin ? origin->when - at_found.when : Seconds(0);
  for (auto& g : group) {
    g.era = kEra;
    g.when = g.when + shift;
    if (weight > 0) {
      g.log_time += time / weight;
      g.log_power += power / weight;
    }
    if (auto* row = row_of(g.at)) {
      merge(*row, g);
      row->repeats += g.repeats;
    } else {
      rows_.push_back(g);
    }
  }
}

void Contrasts::forget(std::size_t setting) {
  std::erase_if(rows_, [&](const auto& r) { return r.at == setting; });
}

}  // namespace rubato::govern
