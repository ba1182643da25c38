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

constexpr std::size_t kPeriodsAhead = 8;  // how far a reading may look for its partner
constexpr double kNoPartner = 2;
constexpr double kFarther = 0.1;  // each further period costs: far cycles have drifted

enum Kind : std::size_t { kAny, kOdd, kNotThird, kKinds };

/// Readings that each is compared with: itself where there is none.
using Partners = std::array<std::vector<std::uint32_t>, kKinds>;

struct Partner {
  double cost = kNoPartner;
  std::uint32_t reading = 0;
};

/// Nearness counts, and how few periods lie between. All periods ahead are asked for each reading, with
/// hardly a branch: this is where a look at short periods spends its time.
Partners partners_of(const std::vector<double>& at, double begin, double end, double period_s,
                     double tolerance_s) {
  const std::size_t n = at.size();
  Partners out;
  for (auto& of : out) {
    of.resize(n);
    std::iota(of.begin(), of.end(), 0U);
  }
  // Twice the middle between one reading and the next, so that nothing need be subtracted in the search.
  std::vector<double> middle(n, std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j + 1 < n; ++j) middle[j] = at[j] + at[j + 1];
  const auto from = static_cast<std::size_t>(std::lower_bound(at.begin(), at.end(), begin) - at.begin());
  const double inverse = 1 / tolerance_s;
  std::array<std::size_t, kPeriodsAhead> nearest{};  // reading, so far
  for (std::size_t i = from; i < n && at[i] <= end; ++i) {
    const double now = at[i];
    std::array<double, kPeriodsAhead> off{};
    std::array<std::uint32_t, kPeriodsAhead> reading{};
    for (std::size_t k = 0; k < kPeriodsAhead; ++k) {
      const double want = now + static_cast<double>(k + 1) * period_s;
      std::size_t j = nearest[k];
      // Mostly none, one or two further on: which, no branch foretells.
      j += middle[j] <= 2 * want ? 1 : 0;
      j += middle[j] <= 2 * want ? 1 : 0;
      while (middle[j] <= 2 * want) ++j;
      nearest[k] = j;
      reading[k] = static_cast<std::uint32_t>(j);
      off[k] = std::abs(at[j] - want);
    }
    std::array<Partner, kPeriodsAhead> ahead;
    for (std::size_t k = 0; k < kPeriodsAhead; ++k) {
      const double cost = off[k] * inverse + kFarther * static_cast<double>(k + 1);
      ahead[k] = {off[k] > tolerance_s ? kNoPartner : cost, reading[k]};
    }
    const auto nearer = [](const Partner& a, const Partner& b) { return b.cost < a.cost ? b : a; };
    static_assert(kPeriodsAhead == 8);
    // By periods ahead: 1, 5 and 7 are of both kinds, 3 is odd, 2, 4 and 8 no third, 6 neither.
    const Partner itself{kNoPartner, static_cast<std::uint32_t>(i)};
    const Partner both = nearer(nearer(nearer(itself, ahead[0]), ahead[4]), ahead[6]);
    const Partner odd = nearer(both, ahead[2]);
    const Partner not_third = nearer(nearer(nearer(both, ahead[1]), ahead[3]), ahead[7]);
    out[kAny][i] = nearer(nearer(not_third, ahead[2]), ahead[5]).reading;
    out[kOdd][i] = odd.reading;
    out[kNotThird][i] = not_third.reading;
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
                       double tolerance_s) {
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
      partners = partners_of(at, begin, end, period_s, tolerance_s);
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
