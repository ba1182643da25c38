#include "progress/period/events.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace rubato::progress {

namespace {

constexpr double kPlateau = 0.06;       // as in likeness over a series
constexpr std::size_t kLeastPairs = 4;  // in a stretch

constexpr double kNoPartner = 2;
constexpr double kFarther = 0.1;  // each further period costs: far cycles have drifted

enum Kind : std::size_t { kAny, kOdd, kNotThird, kKinds };

/// Readings that each is compared with: itself where there is none.
using Partners = std::array<std::vector<std::uint32_t>, kKinds>;

/// A number of periods ahead.
struct Ahead {
  double by_s = 0;
  double far = 0;
  bool odd = false;
  bool not_third = false;
  std::size_t nearest = 0;  // reading, so far
};

/// Nearness counts, and how few periods lie between.
Partners partners_of(const std::vector<double>& at, double begin, double end, double period_s,
                     double tolerance_s, std::size_t most_periods) {
  const std::size_t n = at.size();
  Partners out;
  for (auto& of : out) {
    of.resize(n);
    std::iota(of.begin(), of.end(), 0U);
  }
  // Twice the middle between one reading and the next, so that nothing need be subtracted in the search.
  std::vector<double> middle(n, std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j + 1 < n; ++j) middle[j] = at[j] + at[j + 1];
  std::vector<Ahead> aheads;
  for (std::size_t k = 1; k <= most_periods; ++k)
    aheads.push_back(
        {static_cast<double>(k) * period_s, kFarther * static_cast<double>(k), k % 2 == 1, k % 3 != 0, 0});
  const auto from = static_cast<std::size_t>(std::lower_bound(at.begin(), at.end(), begin) - at.begin());
  for (std::size_t i = from; i < n && at[i] <= end; ++i) {
    const auto itself = static_cast<std::uint32_t>(i);
    std::array<double, kKinds> cost = {kNoPartner, kNoPartner, kNoPartner};
    std::array<std::uint32_t, kKinds> partner = {itself, itself, itself};
    for (Ahead& ahead : aheads) {
      // The first kind costs no more than the others.
      if (ahead.far >= std::max(cost[kOdd], cost[kNotThird])) break;
      const double want = at[i] + ahead.by_s;
      std::size_t j = ahead.nearest;
      // Mostly none, one or two further on: which, no branch foretells.
      j += middle[j] <= 2 * want ? 1 : 0;
      j += middle[j] <= 2 * want ? 1 : 0;
      while (middle[j] <= 2 * want) ++j;
      ahead.nearest = j;
      const double off = std::abs(at[j] - want);
      const double here = off > tolerance_s ? kNoPartner : off / tolerance_s + ahead.far;
      const auto take = [&](Kind kind) {
        const bool better = here < cost[kind];
        cost[kind] = better ? here : cost[kind];
        partner[kind] = better ? static_cast<std::uint32_t>(j) : partner[kind];
      };
      take(kAny);
      if (ahead.odd) take(kOdd);
      if (ahead.not_third) take(kNotThird);
    }
    for (std::size_t kind = 0; kind < kKinds; ++kind) out[kind][i] = partner[kind];
  }
  return out;
}

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

Fresh fresh_readings(const Samples& samples, const Series& readings, const std::vector<double>& factors,
                     std::size_t most) {
  Fresh out;
  const double end_s = readings.begin_s + static_cast<double>(readings.size) * readings.step_s;
  for (std::size_t c = 0; c < readings.which.size(); ++c) {
    const auto& kept = samples.column(readings.which[c]);
    const double hold_s = samples.hold_s(readings.which[c]).value_or(0);
    auto it = std::lower_bound(kept.begin(), kept.end(), readings.begin_s,
                               [](const ColumnSample& s, double t) { return s.at_s < t; });
    const auto last =
        std::lower_bound(it, kept.end(), end_s, [](const ColumnSample& s, double t) { return s.at_s < t; });
    Events events;
    std::vector<std::size_t> bins;
    if (last - it > static_cast<std::ptrdiff_t>(4 * most)) it = last - static_cast<std::ptrdiff_t>(4 * most);
    double previous = 0;
    for (; it != last; ++it) {
      const bool fresh =
          events.at_s.empty() || it->value != previous || it->at_s - events.at_s.back() > 0.95 * hold_s;
      if (!fresh) continue;
      previous = it->value;
      events.at_s.push_back(it->at_s);
      events.value.push_back(it->value * factors[c]);
      bins.push_back(std::min(static_cast<std::size_t>((it->at_s - readings.begin_s) / readings.step_s),
                              readings.size - 1));
    }
    if (events.at_s.size() > most) {
      const auto drop = static_cast<std::ptrdiff_t>(events.at_s.size() - most);
      events.at_s.erase(events.at_s.begin(), events.at_s.begin() + drop);
      events.value.erase(events.value.begin(), events.value.begin() + drop);
      bins.erase(bins.begin(), bins.begin() + drop);
    }
    out.columns.push_back(std::move(events));
    out.bin.push_back(std::move(bins));
  }
  return out;
}

std::vector<Events> events_of(const Fresh& fresh, const Series& readings, double width_s) {
  std::vector<Events> out = fresh.columns;
  const Series slow = smooth(readings, width_s);
  for (std::size_t c = 0; c < out.size(); ++c)
    for (std::size_t i = 0; i < out[c].value.size(); ++i) out[c].value[i] -= slow.columns[c][fresh.bin[c][i]];
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
  std::array<Common, kKinds> common;
  if (!any || end - begin < window_s + period_s) return out;
  const double stride = window_s / 4;
  const auto cells = static_cast<std::size_t>((end - begin) / stride) + 1;
  std::vector<double> products(cells, 0.0);
  std::vector<double> squares(cells, 0.0);
  std::vector<double> pairs(cells, 0.0);
  Partners partners;
  const std::vector<double>* placed = nullptr;  // the times that the partners were found by
  for (const auto& column : columns) {
    const auto& at = column.at_s;
    const auto& x = column.value;
    // Columns are mostly read together.
    if (placed == nullptr || at != *placed) {
      partners = partners_of(at, begin, end, period_s, tolerance_s, most_periods);
      placed = &at;
    }
    const auto from = static_cast<std::size_t>(std::lower_bound(at.begin(), at.end(), begin) - at.begin());
    for (std::size_t i = from; i < at.size() && at[i] <= end; ++i) {
      energy += x[i] * x[i];
      count += 1;
      for (std::size_t kind = 0; kind < kKinds; ++kind)
        if (partners[kind][i] != i) common[kind].add(x[i], x[partners[kind][i]]);
      if (partners[kAny][i] == i) continue;
      const double other = x[partners[kAny][i]];
      const auto cell = static_cast<std::size_t>((at[i] - begin) / stride);
      products[cell] += x[i] * other;
      squares[cell] += 0.5 * (x[i] * x[i] + other * other);
      pairs[cell] += 1;
    }
  }
  out.best = common[kAny].alike();
  out.odd = common[kOdd].alike();
  out.not_third = common[kNotThird].alike();
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
