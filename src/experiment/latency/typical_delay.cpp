#include <algorithm>
#include <map>

#include "base/text.h"
#include "experiment/latency/latency_file.h"

namespace rubato::experiment {
namespace {

// Clocks are whole megahertz at the driver.
constexpr Megahertz kSame{0.75};

bool same(Megahertz a, Megahertz b) {
  return abs(a - b) < kSame;
}
bool same(const predict::Clocks& a, const predict::Clocks& b) {
  return same(a.sm, b.sm) && same(a.memory, b.memory);
}

/// Medians of the pairs that `counts`, by target SM clock.
template <class Counts>
std::map<double, Seconds> by_target(const LatencyTable& table, Counts&& counts) {
  std::map<double, std::vector<Seconds>> medians;
  for (const PairLatency& pair : table.pairs)
    if (pair.clock && counts(pair)) medians[pair.to.sm.value()].push_back(pair.clock->median);
  std::map<double, Seconds> out;
  for (auto& [target, each] : medians) {
    std::sort(each.begin(), each.end());
    const std::size_t middle = each.size() / 2;
    out[target] = each.size() % 2 == 1 ? each[middle] : (each[middle - 1] + each[middle]) / 2;
  }
  return out;
}

TypicalDelay at_target(const std::map<double, Seconds>& targets, double mhz) {
  const auto above = targets.lower_bound(mhz);
  if (above == targets.end())
    return {std::prev(above)->second, cat("as to ", std::prev(above)->first, " MHz, the nearest measured")};
  if (above == targets.begin() || above->first - mhz < kSame.value())
    return {above->second,
            cat("as to ", above->first, " MHz, ",
                above->first - mhz < kSame.value() ? "from elsewhere" : "the nearest measured")};
  const auto below = std::prev(above);
  const double share = (mhz - below->first) / (above->first - below->first);
  return {below->second + (above->second - below->second) * share,
          cat("between those to ", below->first, " and ", above->first, " MHz")};
}

TypicalDelay without_asking(const LatencyTable& table, const predict::Clocks& from,
                            const predict::Clocks& to) {
  for (const PairLatency& pair : table.pairs)
    if (pair.clock && same(pair.from, from) && same(pair.to, to)) return {pair.clock->median, "measured"};
  const bool memory = !same(from.memory, to.memory);
  const auto alike = by_target(table, [&](const PairLatency& pair) {
    return same(pair.from.memory, from.memory) && same(pair.to.memory, to.memory);
  });
  if (!alike.empty()) return at_target(alike, to.sm.value());
  const auto of_a_kind = by_target(
      table, [&](const PairLatency& pair) { return memory != same(pair.from.memory, pair.to.memory); });
  if (!of_a_kind.empty()) {
    TypicalDelay out = at_target(of_a_kind, to.sm.value());
    out.source += memory ? ", other memory clocks" : ", at another memory clock";
    return out;
  }
  return {table.overall.median, memory ? "median of all; changes of the memory clock were not measured"
                                       : "median of all; changes of the SM clock were not measured"};
}

}  // namespace

TypicalDelay typical_delay(const LatencyTable& table, const predict::Clocks& from,
                           const predict::Clocks& to) {
  if (same(from, to)) return {Seconds(0), "no change"};
  TypicalDelay out = without_asking(table, from, to);
  if (table.asking) out.delay += *table.asking;
  return out;
}

}  // namespace rubato::experiment
