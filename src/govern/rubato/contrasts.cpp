#include "govern/rubato/contrasts.h"

#include <algorithm>
#include <cmath>

namespace rubato::govern {
namespace {

/// A mean of both, of which `part` is the other; their errors are independent.
void merge(plan::MeasuredStretch& into, const plan::MeasuredStretch& other, double part) {
  into.when = into.when + (other.when - into.when) * part;
  into.log_time += part * (other.log_time - into.log_time);
  into.log_power += part * (other.log_power - into.log_power);
  const double rest = 1 - part;
  into.work = 1 / (rest * rest / into.work + part * part / other.work);
  into.drifted = rest * rest * into.drifted.value_or(0) + part * part * other.drifted.value_or(0);
}

/// What drift makes the stretch at the found setting and the mean of those beside it at `setting` differ by,
/// as a variance over the drift's own.
double drifted(const plan::MeasuredStretch& at_found, std::span<const plan::MeasuredStretch> beside,
               std::size_t setting) {
  double work = 0;
  double across = 0;
  double within = 0;
  for (const auto& a : beside) {
    if (a.at != setting) continue;
    work += a.work;
    across += a.work * plan::drift_together(at_found, a);
    for (const auto& b : beside)
      if (b.at == setting) within += a.work * b.work * plan::drift_together(a, b);
  }
  return std::max(0.0, plan::drift_together(at_found, at_found) + within / (work * work) - 2 * across / work);
}

}  // namespace

Contrasts::Row* Contrasts::row_of(std::size_t setting) {
  const auto row =
      std::find_if(rows_.begin(), rows_.end(), [&](const auto& r) { return r.mean.at == setting; });
  return row == rows_.end() ? nullptr : &*row;
}

void Contrasts::add(const plan::MeasuredStretch& at_found, std::span<const plan::MeasuredStretch> beside,
                    double drift_per_unit) {
  std::vector<Row> group{{at_found, 0}};
  for (const plan::MeasuredStretch& s : beside) {
    const auto same =
        std::find_if(group.begin(), group.end(), [&](const auto& g) { return g.mean.at == s.at; });
    if (same == group.end()) {
      group.push_back({s, 0});
    } else {
      merge(same->mean, s, s.work / (same->mean.work + s.work));
    }
  }
  double most = 0;
  for (auto& [mean, weight] : group) {
    mean.era = kEra;
    mean.span = Seconds(0);
    mean.drifted = mean.at == found_ ? 0 : drifted(at_found, beside, mean.at);
    most = std::max(most, *mean.drifted);
    // However long a stretch is, what drifted between it and the found setting remains.
    weight = 1 / (1 / mean.work + *mean.drifted * drift_per_unit);
  }
  group.front().weight = 1 / (1 / at_found.work + most * drift_per_unit);
  double sum = 0;
  double time = 0;
  double power = 0;
  for (const auto& [mean, weight] : group)
    if (const auto* row = row_of(mean.at)) {
      const double w = 1 / (1 / row->weight + 1 / weight);
      sum += w;
      time += w * (row->mean.log_time - mean.log_time);
      power += w * (row->mean.log_power - mean.log_power);
    }
  if (!rows_.empty() && sum <= 0) return;
  for (auto& g : group) {
    if (sum > 0) {
      g.mean.log_time += time / sum;
      g.mean.log_power += power / sum;
    }
    if (auto* row = row_of(g.mean.at)) {
      row->weight += g.weight;
      merge(row->mean, g.mean, g.weight / row->weight);
    } else {
      rows_.push_back(g);
    }
  }
}

std::vector<plan::MeasuredStretch> Contrasts::rows() const {
  std::vector<plan::MeasuredStretch> out;
  for (const Row& row : rows_) out.push_back(row.mean);
  return out;
}

void Contrasts::forget(std::size_t setting) {
  std::erase_if(rows_, [&](const auto& r) { return r.mean.at == setting; });
}

bool Contrasts::drop_below(double weight) {
  const auto least = std::min_element(rows_.begin(), rows_.end(), [this](const Row& a, const Row& b) {
    return a.mean.at != found_ && (b.mean.at == found_ || a.weight < b.weight);
  });
  if (least == rows_.end() || least->mean.at == found_ || least->weight >= weight) return false;
  rows_.erase(least);
  return true;
}

void Contrasts::weaken(const std::map<std::size_t, double>& part_of) {
  for (auto& row : rows_) {
    const double part = part_of.at(row.mean.at);
    row.mean.work *= part;
    row.weight *= part;
  }
}

}  // namespace rubato::govern
