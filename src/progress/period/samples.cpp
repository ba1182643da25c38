#include "progress/period/samples.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace rubato::progress {

namespace {

constexpr std::size_t kKept = 8192;        // per column: 164 s at 50 Hz, 820 s at 10 Hz
constexpr double kClosestSeconds = 0.015;  // denser readings are averaged: nothing asked about is that fast
constexpr std::size_t kFewValues = 4;      // then it is the load that stays on its levels, not the sensor
constexpr double kGapSeconds = 2.0;
// NVML documents windows of a sixth of a second to a second behind each value of utilisation.
constexpr double kUtilisationSeconds = 1;
constexpr double kLate = 0.1;           // share of the steps between changes that late readings shorten
constexpr std::size_t kLookedAt = 512;  // readings the pace is learnt from

/// Finite and physically possible; anything else is a fault of the reading.
std::array<std::optional<double>, kColumns> usable(const TelemetryPoint& point) {
  std::array<std::optional<double>, kColumns> out;
  const auto keep = [](double value, double low, double high) -> std::optional<double> {
    if (std::isfinite(value) && value >= low && value <= high) return value;
    return std::nullopt;
  };
  if (point.power) out[0] = keep(point.power->value(), 0, 1e5);
  if (point.sm_utilisation) out[1] = keep(*point.sm_utilisation, 0, 1.5);
  if (point.memory_utilisation) out[2] = keep(*point.memory_utilisation, 0, 1.5);
  if (point.sm_clock) out[3] = keep(point.sm_clock->value(), 0, 1e5);
  return out;
}

std::optional<double> quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::nullopt;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace

bool Samples::add(const TelemetryPoint& point) {
  const auto values = usable(point);
  const bool any = std::any_of(values.begin(), values.end(), [](const auto& v) { return v.has_value(); });
  if (!any || (latest_ && point.at <= *latest_)) {
    ++dropped_;
    return false;
  }
  if (!origin_) origin_ = point.at;
  const double at = (point.at - *origin_).value();
  if (latest_ && at - end_s_ > kGapSeconds) ++gaps_;
  latest_ = point.at;
  end_s_ = at;
  ++used_;
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (!values[c]) continue;
    auto& kept = columns_[c];
    if (!kept.empty() && at - kept.back().at_s < kClosestSeconds) {
      kept.back().value += 0.5 * (*values[c] - kept.back().value);
      continue;
    }
    kept.push_back({at, *values[c]});
    if (kept.size() > kKept) {
      kept.pop_front();
      begin_s_ = std::max(begin_s_, kept.front().at_s);
    }
  }
  return true;
}

std::optional<double> Samples::reading_period_s() const {
  std::optional<double> least;
  for (const auto& kept : columns_) {
    if (kept.size() < 8) continue;
    std::vector<double> steps;
    bool varies = false;
    for (std::size_t i = kept.size() - std::min(kept.size() - 1, kLookedAt); i < kept.size(); ++i) {
      steps.push_back(kept[i].at_s - kept[i - 1].at_s);
      varies = varies || kept[i].value != kept[i - 1].value;
    }
    if (!varies) continue;
    const auto step = quantile(std::move(steps), 0.5);
    if (step && (!least || *step < *least)) least = step;
  }
  return least;
}

const Samples::Hold& Samples::hold_of(Column column) const {
  Hold& hold = holds_[static_cast<std::size_t>(column)];
  if (hold.used == used_) return hold;
  const auto& kept = this->column(column);
  hold = {used_, update_period_s(kept), 0};
  const bool utilisation = column == Column::sm_utilisation || column == Column::memory_utilisation;
  if (!hold.value_s && utilisation)
    hold.longest_s = std::min(kUtilisationSeconds, soonest_change_s(kept).value_or(kUtilisationSeconds));
  return hold;
}

std::optional<double> Samples::hold_s(Column column) const {
  return hold_of(column).value_s;
}

double Samples::longest_hold_s(Column column) const {
  const Hold& hold = hold_of(column);
  return hold.value_s.value_or(hold.longest_s);
}

namespace {

/// When the value changed, of the latest readings.
struct Changes {
  std::vector<double> between_s;
  std::vector<double> values;  // distinct ones, as far as their number matters
};

Changes changes_of(const std::deque<ColumnSample>& samples) {
  Changes out;
  std::optional<double> changed;
  for (std::size_t i = samples.size() - std::min(samples.size(), kLookedAt); i + 1 < samples.size(); ++i) {
    if (samples[i + 1].value == samples[i].value) continue;
    if (out.values.size() <= kFewValues &&
        std::find(out.values.begin(), out.values.end(), samples[i + 1].value) == out.values.end())
      out.values.push_back(samples[i + 1].value);
    if (changed) out.between_s.push_back(samples[i + 1].at_s - *changed);
    changed = samples[i + 1].at_s;
  }
  return out;
}

}  // namespace

std::optional<double> update_period_s(const std::deque<ColumnSample>& samples) {
  Changes changes = changes_of(samples);
  if (changes.between_s.size() < 8 || changes.values.size() <= kFewValues) return std::nullopt;
  return quantile(std::move(changes.between_s), 0.25);
}

std::optional<double> soonest_change_s(const std::deque<ColumnSample>& samples) {
  return quantile(changes_of(samples).between_s, kLate);
}

}  // namespace rubato::progress
