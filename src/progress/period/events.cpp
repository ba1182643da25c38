#include "progress/period/events.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rubato::progress {

namespace {

constexpr double kPlateau = 0.06;       // as in likeness over a series
constexpr std::size_t kLeastPairs = 4;  // in a stretch

constexpr double kNoPartner = 2;

struct Partner {
  double cost = kNoPartner;
  double value = 0;
};

struct Common {
  double products = 0;
  double squares = 0;
  void add(double a, double b) {
    products += a * b;
    squares += 0.5 * (a * a + b * b);
  }
  [[nodiscard]] double alike() const { return squares > 0 ? products / squares : 0.0; }
};

}  // namespace

std::vector<Events> events_of(const Samples& samples, const Series& readings,
                              const std::vector<double>& factors, double width_s, std::size_t most) {
  std::vector<Events> out;
  const Series slow = smooth(readings, width_s);
  const double end_s = readings.begin_s + static_cast<double>(readings.size) * readings.step_s;
  for (std::size_t c = 0; c < readings.which.size(); ++c) {
    const auto& kept = samples.column(readings.which[c]);
    const double hold_s = samples.hold_s(readings.which[c]).value_or(0);
    auto it = std::lower_bound(kept.begin(), kept.end(), readings.begin_s,
                               [](const ColumnSample& s, double t) { return s.at_s < t; });
    const auto last =
        std::lower_bound(it, kept.end(), end_s, [](const ColumnSample& s, double t) { return s.at_s < t; });
    Events events;
    if (last - it > static_cast<std::ptrdiff_t>(4 * most)) it = last - static_cast<std::ptrdiff_t>(4 * most);
    double previous = 0;
    for (; it != last; ++it) {
      const bool fresh =
          events.at_s.empty() || it->value != previous || it->at_s - events.at_s.back() > 0.95 * hold_s;
      if (!fresh) continue;
      previous = it->value;
      const auto bin = std::min(static_cast<std::size_t>((it->at_s - readings.begin_s) / readings.step_s),
                                readings.size - 1);
      events.at_s.push_back(it->at_s);
      events.value.push_back(it->value * factors[c] - slow.columns[c][bin]);
    }
    if (events.at_s.size() > most) {
      const auto drop = static_cast<std::ptrdiff_t>(events.at_s.size() - most);
      events.at_s.erase(events.at_s.begin(), events.at_s.begin() + drop);
      events.value.erase(events.value.begin(), events.value.begin() + drop);
    }
    out.push_back(std::move(events));
  }
  return out;
}

EventLikeness likeness(const std::vector<Events>& columns, double window_s, double period_s,
                       double tolerance_s, std::size_t most_periods) {
  double begin = 0;
  double end = 0;
  bool any = false;
  double energy = 0;
  double count = 0;
  for (const auto& column : columns) {
    if (column.at_s.empty()) continue;
    begin = any ? std::max(begin, column.at_s.front()) : column.at_s.front();
    end = any ? std::min(end, column.at_s.back()) : column.at_s.back();
    any = true;
  }
  EventLikeness out;
  std::array<Common, 3> common;
  if (!any || end - begin < window_s + period_s) return out;
  const double stride = window_s / 4;
  const auto cells = static_cast<std::size_t>((end - begin) / stride) + 1;
  std::vector<double> products(cells, 0.0);
  std::vector<double> squares(cells, 0.0);
  std::vector<double> pairs(cells, 0.0);
  for (const auto& column : columns) {
    const auto& at = column.at_s;
    const auto& x = column.value;
    std::vector<std::size_t> partner(most_periods + 1, 0);
    const auto from = static_cast<std::size_t>(std::lower_bound(at.begin(), at.end(), begin) - at.begin());
    for (std::size_t i = from; i < at.size() && at[i] <= end; ++i) {
      energy += x[i] * x[i];
      count += 1;
      std::array<Partner, 3> chosen;  // any, odd, not a multiple of three
      for (std::size_t k = 1; k <= most_periods; ++k) {
        const double want = at[i] + static_cast<double>(k) * period_s;
        std::size_t& j = partner[k];
        while (j + 1 < at.size() && std::abs(at[j + 1] - want) <= std::abs(at[j] - want)) ++j;
        const double off = std::abs(at[j] - want);
        if (off > tolerance_s) continue;
        // Nearness counts, but far cycles have drifted.
        const Partner found{off / tolerance_s + 0.1 * static_cast<double>(k), x[j]};
        if (found.cost < chosen[0].cost) chosen[0] = found;
        if (k % 2 == 1 && found.cost < chosen[1].cost) chosen[1] = found;
        if (k % 3 != 0 && found.cost < chosen[2].cost) chosen[2] = found;
      }
      for (std::size_t kind = 0; kind < chosen.size(); ++kind)
        if (chosen[kind].cost < kNoPartner) common[kind].add(x[i], chosen[kind].value);
      if (chosen[0].cost >= kNoPartner) continue;
      const double other = chosen[0].value;
      const auto cell = static_cast<std::size_t>((at[i] - begin) / stride);
      products[cell] += x[i] * other;
      squares[cell] += 0.5 * (x[i] * x[i] + other * other);
      pairs[cell] += 1;
    }
  }
  out.best = common[0].alike();
  out.odd = common[1].alike();
  out.not_third = common[2].alike();
  const double floor = count > 0 ? kPlateau * energy / count : 0;
  for (std::size_t c = 0; c + 4 <= cells; ++c) {
    double xy = 0;
    double xx = 0;
    double n = 0;
    for (std::size_t k = c; k < c + 4; ++k) {
      xy += products[k];
      xx += squares[k];
      n += pairs[k];
    }
    Stretch s;
    if (n >= static_cast<double>(kLeastPairs) && xx > floor * n) s = Stretch{xy / xx, 0, true};
    out.stretches.push_back(s);
  }
  return out;
}

}  // namespace rubato::progress
