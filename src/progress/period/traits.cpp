#include "progress/period/traits.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "progress/period/comb.h"

namespace rubato::progress {

namespace {

constexpr std::array<std::string_view, kTraits> kNames = {
    // Its own: length in updates and in the stretch, likeness one period later, and at other lags.
    "updates", "cycles", "alike_median", "alike_mean", "alike_good", "alike_upper", "stretches", "sharpness",
    "supported", "rho_1", "rho_2", "rho_3", "rho_4", "rho_1_2", "rho_3_2", "rho_5_2", "rho_1_3", "rho_2_3",
    "rho_4_3", "band_cycles", "over_first", "is_first",
    // Less the best of all.
    "rel_median", "rel_upper", "rel_rho", "rel_least_z", "rel_power_z",
    // The best of its parts, its multiples and the others, less its own.
    "part_median", "part_rho", "part_good", "part_least_z", "part_power_z", "multiple_median", "multiple_rho",
    "multiple_good", "multiple_least_z", "multiple_power_z", "other_median", "other_rho", "other_good",
    "other_least_z", "other_power_z",
    // How many there are of them.
    "parts", "multiples", "all",
    // After whole cycles against in between (comb.h): of all columns together, of power, the best of others.
    "teeth", "halves", "halves_z", "thirds", "thirds_z", "least_z", "doubles", "doubles_z", "triples",
    "triples_z", "multiple_z", "power_teeth", "power_halves", "power_least_z", "power_doubles",
    "power_multiple_z", "column_teeth", "column_least_z", "column_multiple_z",
    // What it was looked at with.
    "known_updates", "continuity", "power_continuity", "window", "pace", "power_share"};

enum Index : std::size_t {
  kMedian = 2,
  kGood = 4,
  kUpper = 5,
  kRho = 9,
  kRelative = 22,
  kBest = 27,
  kCounts = 42,
  kComb = 45,
  kLeastZ = kComb + 5,
  kPowerLeastZ = kComb + 13
};

constexpr std::array<double, 10> kLags = {1, 2, 3, 4, 0.5, 1.5, 2.5, 1.0 / 3, 2.0 / 3, 4.0 / 3};
constexpr double kBeyond = -2;   // a lag that the profile does not reach
constexpr double kNothing = -3;  // no such candidate, or column
constexpr double kNoFirst = 9;   // nothing qualifies at all
constexpr double kSame = 0.012;

float as_float(double x) {
  return static_cast<float>(x);
}

/// Likeness to itself so much later.
double rho_at(const LagProfile& profile, double lag_s) {
  if (profile.correlation.size() < 4 ||
      lag_s / profile.step_s + 2 > static_cast<double>(profile.correlation.size()))
    return kBeyond;
  return value_at(profile, lag_s);
}

/// The lag profile of the power alone; null where it does not vary.
const LagProfile* power_of(const Band& band) {
  const auto& which = band.readings.which;
  const auto at =
      static_cast<std::size_t>(std::find(which.begin(), which.end(), Column::power) - which.begin());
  return at < band.by_column.size() ? &band.by_column[at] : nullptr;
}

void compare_teeth(const Judged& judged, const Span& span, Traits& out) {
  const double period_s = judged.candidate.period_s;
  const Band& band = *judged.band;
  std::size_t next = kComb;
  const auto put = [&](double x) { out[next++] = as_float(x); };
  const Comb all = comb_of(band.profile, period_s);
  for (const double x : {all.teeth, all.halves, all.halves_z, all.thirds, all.thirds_z, all.least_z,
                         all.doubles, all.doubles_z, all.triples, all.triples_z, all.multiple_z})
    put(x);
  const LagProfile* power = power_of(band);
  const Comb own = power != nullptr ? comb_of(*power, period_s) : Comb{};
  for (const double x : {own.teeth, own.halves, own.least_z, own.doubles, own.multiple_z}) put(x);
  std::array<double, 3> others{};
  for (const LagProfile& column : band.by_column) {
    if (&column == power) continue;
    const Comb comb = comb_of(column, period_s);
    others[0] = std::max(others[0], comb.teeth);
    others[1] = std::max(others[1], comb.least_z);
    others[2] = std::max(others[2], comb.multiple_z);
  }
  for (const double x : others) put(x);
  put(std::log(static_cast<double>(band.readings.size) * band.readings.step_s / span.update_s));
  put(rho_at(band.profile, span.update_s));
  put(power != nullptr ? rho_at(*power, span.update_s) : kNothing);
  put(span.window_s / span.update_s);
  put(std::log(span.update_s / span.reading_s));
  double share = 0;
  for (std::size_t c = 0; c < band.by_column.size(); ++c)
    if (&band.by_column[c] == power) share = band.shares[c];
  put(share);
}

Traits own_traits(const Judged& judged, const Judged* first, const Span& span) {
  const double period_s = judged.candidate.period_s;
  const Band& band = *judged.band;
  const Likeness& alike = judged.likeness;
  Traits out{};
  std::size_t next = 0;
  const auto put = [&](double x) { out[next++] = as_float(x); };
  put(std::log(period_s / span.update_s));
  put(std::log((span.end_s - span.begin_s) / period_s));
  for (const double x : {alike.median, alike.mean, alike.good, alike.upper}) put(x);
  put(std::log(1 + static_cast<double>(alike.count)));
  put(judged.sharpness);
  put(judged.supported ? 1 : 0);
  for (const double lag : kLags) put(rho_at(band.profile, lag * period_s));
  put(static_cast<double>(band.readings.size) * band.readings.step_s / period_s);
  const double over = first != nullptr ? std::log(period_s / first->candidate.period_s) : kNoFirst;
  put(over);
  put(std::abs(over) < kSame ? 1 : 0);
  compare_teeth(judged, span, out);
  return out;
}

constexpr std::array<Index, 5> kCompared = {kMedian, kRho, kGood, kLeastZ, kPowerLeastZ};

/// Of the candidates that stand in one relation to this one: the best of each number compared.
struct Others {
  std::array<double, kCompared.size()> best{};
  double count = 0;
  void take(const Traits& traits) {
    for (std::size_t i = 0; i < best.size(); ++i)
      best[i] = count > 0 ? std::max(best[i], double{traits[kCompared[i]]}) : traits[kCompared[i]];
    count += 1;
  }
};

void relate(const std::vector<Judged>& candidates, std::vector<Traits>& traits) {
  constexpr std::array<Index, 5> kBestOfAll = {kMedian, kUpper, kRho, kLeastZ, kPowerLeastZ};
  std::array<float, kBestOfAll.size()> most{};
  for (std::size_t q = 0; q < kBestOfAll.size(); ++q) {
    most[q] = traits.front()[kBestOfAll[q]];
    for (const Traits& t : traits) most[q] = std::max(most[q], t[kBestOfAll[q]]);
  }
  for (std::size_t i = 0; i < traits.size(); ++i) {
    Traits& own = traits[i];
    for (std::size_t q = 0; q < kBestOfAll.size(); ++q) own[kRelative + q] = own[kBestOfAll[q]] - most[q];
    std::array<Others, 3> kinds;  // parts, multiples, others
    for (std::size_t j = 0; j < traits.size(); ++j) {
      const double ratio = candidates[j].candidate.period_s / candidates[i].candidate.period_s;
      if (is_multiple(1 / ratio))
        kinds[0].take(traits[j]);
      else if (is_multiple(ratio))
        kinds[1].take(traits[j]);
      else if (std::abs(std::log(ratio)) > kSame)
        kinds[2].take(traits[j]);
    }
    for (std::size_t k = 0; k < kinds.size(); ++k)
      for (std::size_t q = 0; q < kCompared.size(); ++q)
        own[kBest + k * kCompared.size() + q] =
            as_float(kinds[k].count > 0 ? kinds[k].best[q] - own[kCompared[q]] : kNothing);
    own[kCounts] = as_float(kinds[0].count);
    own[kCounts + 1] = as_float(kinds[1].count);
    own[kCounts + 2] = as_float(static_cast<double>(traits.size()));
  }
}

}  // namespace

bool is_multiple(double ratio) {
  const double times = std::round(ratio);
  return times >= 2 && std::abs(ratio - times) < 0.03 + 0.004 * times;
}

std::span<const std::string_view, kTraits> trait_names() {
  return kNames;
}

std::vector<Traits> traits_of(const std::vector<Judged>& candidates, const Span& span) {
  std::vector<Traits> out;
  if (candidates.empty()) return out;
  const Judged* first = shortest_that_qualifies(candidates);
  for (const Judged& judged : candidates) out.push_back(own_traits(judged, first, span));
  relate(candidates, out);
  return out;
}

}  // namespace rubato::progress
