#include "experiment/latency/summary.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace rubato::experiment {
namespace {

constexpr double kOutlier = 2;  // times its pair's median

Seconds percentile(const std::vector<Seconds>& ascending, double share) {
  const double at = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return ascending[below] + (ascending[above] - ascending[below]) * (at - std::floor(at));
}

/// Those that were that long for certain: a machine that reads late makes none.
unsigned outliers_of(std::size_t pair, const DelaySummary& delays, std::span<const TimedChange> changes) {
  return static_cast<unsigned>(std::count_if(changes.begin(), changes.end(), [&](const TimedChange& change) {
    return change.pair == pair && change.clock && *change.clock - change.known_to > delays.median * kOutlier;
  }));
}

}  // namespace

Seconds median_gap(std::span<const double> gaps) {
  if (gaps.empty()) return Seconds(0);
  std::vector<double> sorted(gaps.begin(), gaps.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return Seconds(*middle);
}

std::optional<DelaySummary> summary_of_delays(std::vector<Seconds> delays) {
  if (delays.empty()) return std::nullopt;
  std::sort(delays.begin(), delays.end());
  DelaySummary out{.median = percentile(delays, 0.5),
                   .p95 = percentile(delays, 0.95),
                   .worst = delays.back(),
                   .n = static_cast<unsigned>(delays.size())};
  out.outliers = static_cast<unsigned>(
      std::count_if(delays.begin(), delays.end(), [&](Seconds d) { return d > out.median * kOutlier; }));
  return out;
}

Result<LatencyTable> summarise(std::span<const ClockPair> pairs, std::span<const TimedChange> changes,
                               LatencyTable table) {
  std::vector<Seconds> all;
  unsigned outliers = 0;
  std::string why_none = "none was tried";
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    PairLatency pair{
        .from = pairs[i].from, .to = pairs[i].to, .clock = {}, .power = {}, .lost = 0, .why_not = {}};
    std::vector<Seconds> clock;
    std::vector<Seconds> power;
    for (const TimedChange& change : changes) {
      if (change.pair != i) continue;
      if (change.clock) clock.push_back(*change.clock);
      if (change.clock && change.power) power.push_back(*change.power);
      if (change.clock) continue;
      ++pair.lost;
      pair.why_not = why_none = change.why_not;
    }
    all.insert(all.end(), clock.begin(), clock.end());
    pair.clock = summary_of_delays(std::move(clock));
    pair.power = summary_of_delays(std::move(power));
    if (pair.clock) outliers += pair.clock->outliers = outliers_of(i, *pair.clock, changes);
    table.pairs.push_back(std::move(pair));
  }
  const auto overall = summary_of_delays(std::move(all));
  if (!overall) return fail(ErrorCode::unavailable, cat("no change of clocks could be timed: ", why_none));
  table.overall = *overall;
  table.overall.outliers = outliers;  // each against its own pair
  return table;
}

}  // namespace rubato::experiment
