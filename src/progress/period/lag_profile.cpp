#include "progress/period/lag_profile.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "progress/period/fft.h"

namespace rubato::progress {

namespace {

constexpr double kLeastAlike = 0.12;
constexpr double kRounding = 1e-12;  // mean square, in watts, shares or megahertz: less is a constant column
constexpr double kLeastProminence = 0.10;
constexpr std::size_t kHighest = 5;  // summits followed up, of the whole
constexpr std::size_t kShortest = 3;
constexpr std::size_t kHighestOfPart = 2;  // and of each part
constexpr std::size_t kShortestOfPart = 1;

std::vector<std::vector<double>> column_profiles(const Series& series, std::size_t max_lag) {
  std::vector<std::vector<double>> out;
  for (std::size_t c = 0; c < series.columns.size(); c += 2) {
    const bool pair = c + 1 < series.columns.size();
    auto both =
        autocorrelate(series.columns[c], pair ? series.columns[c + 1] : std::vector<double>{}, max_lag);
    out.push_back(std::move(both.first));
    if (pair) out.push_back(std::move(both.second));
  }
  const auto n = static_cast<double>(series.size);
  for (auto& profile : out) {
    const double zero = profile[0];
    for (std::size_t lag = 0; lag <= max_lag; ++lag)
      profile[lag] = zero > kRounding * n ? profile[lag] / zero * n / (n - static_cast<double>(lag)) : 0.0;
  }
  return out;
}

/// Summits of a profile between two lags, highest first.
std::vector<std::size_t> summits(const std::vector<double>& profile, std::size_t from, std::size_t to) {
  std::vector<std::size_t> found;
  double lowest = 1;
  for (std::size_t lag = 1; lag + 1 < profile.size() && lag <= to; ++lag) {
    lowest = std::min(lowest, profile[lag]);
    if (lag < from || profile[lag] < profile[lag - 1] || profile[lag] <= profile[lag + 1]) continue;
    if (profile[lag] >= kLeastAlike && profile[lag] - lowest >= kLeastProminence) found.push_back(lag);
  }
  std::sort(found.begin(), found.end(), [&](auto a, auto b) { return profile[a] > profile[b]; });
  return found;
}

double parabola_shift(double before, double at, double after) {
  const double bend = before - 2 * at + after;
  return bend < 0 ? std::clamp(0.5 * (before - after) / bend, -0.5, 0.5) : 0.0;
}

Candidate describe(const LagProfile& profile, std::size_t lag) {
  const auto& rho = profile.correlation;
  const double summit_s =
      (static_cast<double>(lag) + parabola_shift(rho[lag - 1], rho[lag], rho[lag + 1])) * profile.step_s;
  const double refined_s = refined_period(profile, summit_s);
  const double known_s = 0.7 * std::max(profile.step_s, profile.update_s) + 0.02 * summit_s;
  return {std::abs(refined_s - summit_s) < known_s ? refined_s : summit_s, profile.step_s};
}

}  // namespace

double value_at(const LagProfile& profile, double lag_s) {
  const auto& rho = profile.correlation;
  const double where = lag_s / profile.step_s;
  const auto at = static_cast<std::size_t>(std::max(0.0, std::round(where)));
  if (at + 1 >= rho.size()) return rho.empty() ? 0.0 : rho.back();
  if (at == 0) return rho[0];
  const double x = where - static_cast<double>(at);
  const double slope = 0.5 * (rho[at + 1] - rho[at - 1]);
  const double bend = 0.5 * (rho[at + 1] - 2 * rho[at] + rho[at - 1]);
  return rho[at] + slope * x + bend * x * x;
}

std::optional<double> summit_near(const LagProfile& profile, double lag_s, double share) {
  const auto& rho = profile.correlation;
  const double centre = lag_s / profile.step_s;
  const double reach = std::max(1.0, centre * share);
  const auto from = static_cast<std::size_t>(std::max(1.0, std::ceil(centre - reach)));
  const auto to = static_cast<std::size_t>(std::max(1.0, std::floor(centre + reach)));
  if (to + 1 >= rho.size()) return std::nullopt;
  std::size_t best = from;
  for (std::size_t lag = from; lag <= to; ++lag)
    if (rho[lag] > rho[best]) best = lag;
  if (rho[best] < rho[best - 1] || rho[best] < rho[best + 1]) return std::nullopt;
  return (static_cast<double>(best) + parabola_shift(rho[best - 1], rho[best], rho[best + 1])) *
         profile.step_s;
}

double refined_period(const LagProfile& profile, double period_s) {
  const double first = value_at(profile, period_s);
  double period = period_s;
  double before = 1;
  // NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter): a step more or less is no matter here
  for (double multiple = 2; multiple < 64; multiple = std::ceil(multiple * 1.4)) {
    // The summit before is known to about half an update; jitter adds its part.
    const double known = std::max(profile.step_s, profile.update_s);
    const double reach =
        std::max(1.2 * profile.step_s, 0.6 * multiple / before * known) + 0.01 * multiple * period;
    if (reach > 0.35 * period) break;
    const auto summit = summit_near(profile, multiple * period, reach / (multiple * period));
    if (!summit || value_at(profile, *summit) < 0.6 * first) break;
    period = *summit / multiple;
    before = multiple;
  }
  return period;
}

LagProfile profile_of(const Series& series, double update_s) {
  const std::size_t max_lag = series.size > 4 ? series.size * 5 / 9 : 1;
  LagProfile out{series.step_s, update_s, series.size, std::vector<double>(max_lag + 1, 0.0)};
  std::vector<double> shares;
  for (const auto& x : series.columns) {
    double squares = 0;
    for (const double v : x) squares += v * v;
    shares.push_back(squares);
  }
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (total <= 0) return out;
  const auto profiles = column_profiles(series, max_lag);
  for (std::size_t c = 0; c < profiles.size(); ++c)
    for (std::size_t lag = 0; lag <= max_lag; ++lag)
      out.correlation[lag] += shares[c] / total * profiles[c][lag];
  return out;
}

Band search_band(Series readings, double update_s, double shortest_s, double longest_s) {
  const double step_s = readings.step_s;
  Band band{shortest_s, longest_s, std::move(readings), {}, {}, {}, {}, {}, {}};
  if (band.readings.size < 16 || band.readings.columns.empty()) return band;
  const Series level = high_pass(band.readings, 1.5 * longest_s);
  const std::size_t max_lag = level.size * 5 / 9;
  const auto from = static_cast<std::size_t>(std::max(2.0, std::floor(shortest_s / step_s)));
  const auto to = static_cast<std::size_t>(std::ceil(longest_s / step_s));

  auto profiles = column_profiles(level, max_lag);
  std::vector<double> weights;
  double total = 0;
  for (const auto& profile : profiles) {
    const auto found = summits(profile, from, to);
    const double best = found.empty() ? 0.02 : profile[found.front()];
    weights.push_back(best * best * best);
    total += weights.back();
  }
  band.profile = LagProfile{step_s, update_s, level.size, std::vector<double>(max_lag + 1, 0.0)};
  for (std::size_t c = 0; c < profiles.size(); ++c) {
    for (std::size_t lag = 0; lag <= max_lag; ++lag)
      band.profile.correlation[lag] += weights[c] / total * profiles[c][lag];
    double squares = 0;
    for (const double x : level.columns[c]) squares += x * x;
    band.factors.push_back(squares > kRounding * static_cast<double>(level.size)
                               ? std::sqrt(weights[c] / total * static_cast<double>(level.size) / squares)
                               : 0.0);
    band.shares.push_back(weights[c] / total);
    band.by_column.push_back({step_s, update_s, level.size, std::move(profiles[c])});
  }
  scale(band.readings, band.factors);
  const auto note = [&](const LagProfile& profile, std::size_t highest, std::size_t shortest) {
    auto found_at = summits(profile.correlation, from, to);
    auto shortest_first = found_at;
    std::sort(shortest_first.begin(), shortest_first.end());
    if (found_at.size() > highest) found_at.resize(highest);
    if (shortest_first.size() > shortest) shortest_first.resize(shortest);
    found_at.insert(found_at.end(), shortest_first.begin(), shortest_first.end());
    for (const std::size_t lag : found_at) {
      const Candidate found = describe(profile, lag);
      const bool known = std::any_of(band.candidates.begin(), band.candidates.end(), [&](const Candidate& c) {
        return std::abs(c.period_s - found.period_s) < 0.03 * found.period_s;
      });
      if (!known) band.candidates.push_back(found);
    }
  };
  note(band.profile, kHighest, kShortest);
  // Stalls, or a clock that changes half way, hide in the whole what its parts show.
  constexpr std::size_t kParts = 3;
  if (level.size >= 64 * kParts)
    for (std::size_t part = 0; part < kParts; ++part)
      note(profile_of(high_pass(section(band.readings, part * level.size / kParts, level.size / kParts),
                                1.5 * longest_s),
                      update_s),
           kHighestOfPart, kShortestOfPart);
  return band;
}

}  // namespace rubato::progress
