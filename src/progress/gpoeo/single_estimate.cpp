#include "progress/gpoeo/single_estimate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "progress/gpoeo/published.h"
#include "progress/gpoeo/spectrum.h"
#include "progress/gpoeo/window_error.h"

namespace rubato::progress::gpoeo {
namespace {

struct Peak {
  double period = 0;
  double size = 0;
};

/// Strongest first; each is more than kPeakShare of the one before.
std::vector<double> peaks_of(std::span<const double> trace, std::size_t length, double upper) {
  const std::vector<double> sizes = magnitudes(trace, length);
  std::vector<Peak> peaks;
  for (const std::size_t k : local_maxima(sizes)) {
    const double period = static_cast<double>(length) * kInterval / static_cast<double>(k);
    if (period <= upper) peaks.push_back({period, sizes[k]});
  }
  std::ranges::stable_sort(peaks, std::ranges::greater{}, &Peak::size);
  std::vector<double> periods;
  for (std::size_t i = 0; i < peaks.size() && i < kMostCandidates; ++i) {
    if (i > 0 && peaks[i].size <= kPeakShare * peaks[i - 1].size) break;
    periods.push_back(peaks[i].period);
  }
  return periods;
}

/// The spectrum is padded once where it cannot tell the longest candidate from its neighbours.
std::vector<double> candidates_of(std::span<const double> trace, double upper) {
  std::vector<double> periods = peaks_of(trace, trace.size(), upper);
  if (periods.empty()) return periods;
  const double duration = static_cast<double>(trace.size()) * kInterval;
  if (std::ranges::max(periods) <= duration / kResolvable) return periods;
  const double times = std::ceil(upper / duration * kResolvable);
  std::vector<double> finer =
      peaks_of(trace, static_cast<std::size_t>(static_cast<double>(trace.size()) * (1 + times)), upper);
  return finer.empty() ? periods : finer;
}

/// What the sampler is too slow for is looked for by its multiples. Returns the longest short candidate.
std::optional<double> replace_short(std::vector<double>& periods) {
  std::vector<double> shorts;
  for (const double period : periods)
    if (period < kLowestPeriod) shorts.push_back(period);
  if (shorts.empty()) return std::nullopt;
  const double longest = std::ranges::max(shorts);
  std::erase_if(periods, [&](double period) { return period < kLowestPeriod && period != longest; });
  std::optional<double> first;
  std::size_t taken = 0;
  const double step = kMultipleStep * longest;
  for (double at = kLowestPeriod; taken < shorts.size(); at += step) {
    if (first && (at > kMultipleReach * *first || at - *first > kMultipleSpread * longest)) break;
    if (at > kHighestPeriod) break;  // no common multiple within reach
    const bool common = std::ranges::all_of(shorts, [&](double factor) {
      return std::abs(at / factor - std::round(at / factor)) <= kMultipleFit;
    });
    if (!common) continue;
    if (!first) first = at;
    periods.push_back(at);
    ++taken;
  }
  return longest;
}

struct Scored {
  double period = 0;
  double error = 0;
};

std::optional<Scored> better(std::optional<Scored> best, double period, std::span<const double> trace,
                             double reference) {
  const std::optional<double> error = window_error(trace, period, reference);
  if (error && (!best || *error < best->error)) return Scored{period, *error};
  return best;
}

Scored refined(Scored best, std::span<const double> trace, double reference,
               const std::optional<double>& longest_short) {
  const double bin = 1 / (static_cast<double>(trace.size()) * kInterval);
  for (int round = 0; round < kRounds; ++round) {
    const double centre = best.period;
    const double frequency = 1 / centre;
    double low = std::min(1 / (frequency + kBinReach * bin), centre * (1 - kLeastReach));
    double high = centre * (1 + kLeastReach);
    if (frequency > kBinReach * bin) high = std::max(high, 1 / (frequency - kBinReach * bin));
    if (longest_short) {
      low = std::max(low, centre - kFactorReach * *longest_short);
      high = std::min(high, centre + kFactorReach * *longest_short);
    }
    const double step = std::clamp((high - low) / kSteps, kShortestStep, kLongestStep);
    std::optional<Scored> winner = best;
    // NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter): a step more or less is no matter here
    for (double period = low; period <= high; period += step)
      winner = better(winner, period, trace, reference);
    const double margin = (1 - kMiddle) / 2 * (high - low);
    best = *winner;
    if (best.period == centre || (best.period > low + margin && best.period < high - margin)) break;
  }
  return best;
}

}  // namespace

SingleEstimate estimate_once(std::span<const double> trace, double upper) {
  using Kind = SingleEstimate::Kind;
  std::vector<double> periods = candidates_of(trace, upper);
  if (periods.empty()) return {.kind = Kind::no_peak, .period = upper};
  const std::optional<double> longest_short = replace_short(periods);
  const double longest = std::ranges::max(periods);
  if (longest > static_cast<double>(trace.size()) * kInterval / 2)
    return {.kind = Kind::too_short, .period = longest};
  std::optional<Scored> best;
  for (const double period : periods) best = better(best, period, trace, longest);
  if (!best) return {.kind = Kind::no_peak, .period = upper};
  Scored result = refined(*best, trace, longest, longest_short);
  if (result.period < kLowestPeriod) result.period *= std::round(kLowestPeriod / result.period);
  return {.kind = Kind::found, .period = result.period, .error = result.error};
}

}  // namespace rubato::progress::gpoeo
