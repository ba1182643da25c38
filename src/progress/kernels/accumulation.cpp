#include "progress/kernels/accumulation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <vector>

namespace rubato::progress::kernels {
namespace {

constexpr double kRare = 0.6;     // in fewer of the units than this: not part of the unit
constexpr double kRegular = 0.7;  // of the distances have to agree
constexpr std::size_t kFewest = 3;
constexpr std::size_t kAnyCount = 12;  // speaks neither for micro-batches nor much against
constexpr double kOpen = 0.6;          // something that looks like a step came, too few times to tell

double odds_of_count(std::size_t units) {
  if (units <= 4) return units == 3 ? 1.5 : 2;
  if (std::has_single_bit(units) && units <= 64) return units <= 16 ? 2 : 1;
  if (units % 50 == 0 || units == 10 || units == 20 || units == 25) return -2;
  if (units > 64) return -3;
  if (units == 5) return -0.5;
  return units <= 12 || units % 8 == 0 ? 0.5 : -0.5;
}

struct Occurrences {
  std::vector<std::size_t> starts;  // one for each time it came, however often within it
  std::size_t launches = 0;
  double busy_s = 0;
};

// Middle distance between occurrences, where most distances agree with it.
std::optional<std::size_t> regular_distance(const Occurrences& of, std::size_t unit) {
  if (of.starts.size() < kFewest) return std::nullopt;
  std::vector<std::size_t> apart;
  for (std::size_t i = 1; i < of.starts.size(); ++i) apart.push_back(of.starts[i] - of.starts[i - 1]);
  std::vector<std::size_t> sorted = apart;
  std::ranges::sort(sorted);
  const std::size_t middle = sorted[sorted.size() / 2];
  const std::size_t slack = std::max<std::size_t>(1, unit / 4);
  const auto agree =
      std::ranges::count_if(apart, [&](std::size_t d) { return d + slack >= middle && d <= middle + slack; });
  if (static_cast<double>(agree) < kRegular * static_cast<double>(apart.size())) return std::nullopt;
  return middle;
}

// Came once or twice, and not so long ago that it would have come again by now.
bool may_come_again(const Occurrences& of, std::size_t size) {
  if (of.starts.size() >= kFewest) return false;
  const std::size_t wait = of.starts.size() == 1 ? of.starts[0] : of.starts[1] - of.starts[0];
  return size - of.starts.back() <= wait + wait / 2;
}

}  // namespace

double log_odds_of_a_step(const NowAndThen& what) {
  double odds = odds_of_count(what.units);
  if (what.launches >= 10) {
    odds += 1;
  } else if (what.launches >= 3) {
    odds += 0.5;
  } else if (what.launches <= 1 && what.unit_launches >= 50) {
    odds -= 0.5;
  }
  if (what.launches >= 0.05 * what.unit_launches) odds += 0.5;
  const double share = what.unit_busy.value() > 0 ? what.busy / what.unit_busy : 0;
  if (share >= 0.01) {
    odds += 1;
  } else if (share < 0.002) {
    odds -= 1.5;
  }
  if (share > 1.5 && what.units > 4) odds -= 3;  // longer than what it would be a step of: an evaluation
  return odds;
}

Accumulation find_accumulation(std::span<const Token> tokens, std::span<const double> busy_s,
                               std::size_t unit) {
  Accumulation found;
  if (unit == 0 || tokens.size() < 2 * unit) return found;
  const double units = static_cast<double>(tokens.size()) / static_cast<double>(unit);
  std::map<Token, Occurrences> seen;
  double all_busy_s = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Occurrences& of = seen[tokens[i]];
    if (of.starts.empty() || i - of.starts.back() > unit / 2) of.starts.push_back(i);
    of.busy_s += busy_s[i];
    ++of.launches;
    all_busy_s += busy_s[i];
  }
  std::map<std::size_t, NowAndThen> by_units;
  NowAndThen open{.units = kAnyCount,
                  .unit_launches = static_cast<double>(unit),
                  .unit_busy = Seconds(all_busy_s / units)};
  for (const auto& [token, of] : seen) {
    if (static_cast<double>(of.starts.size()) > kRare * units) continue;
    if (may_come_again(of, tokens.size())) {
      open.launches += static_cast<double>(of.launches) / static_cast<double>(of.starts.size());
      open.busy += Seconds(of.busy_s / static_cast<double>(of.starts.size()));
    }
    const auto distance = regular_distance(of, unit);
    if (!distance || *distance < unit + unit / 2) continue;
    const auto times = static_cast<double>(of.starts.size());
    // Launches that come together have nearly the same distance; each also lengthens it.
    NowAndThen& one = by_units[*distance / unit];
    one.distance = std::max(one.distance, *distance);
    one.launches += static_cast<double>(of.launches) / times;
    one.busy += Seconds(of.busy_s / times);
    one.last = token;
  }
  for (auto& [rough, one] : by_units) {
    const double rest = static_cast<double>(one.distance) - one.launches;
    one.units = static_cast<std::size_t>(std::max(1.0, std::round(rest / static_cast<double>(unit))));
    if (one.units < 2) continue;
    one.unit_launches = static_cast<double>(unit);
    one.unit_busy = Seconds(all_busy_s / units);
    const double odds = log_odds_of_a_step(one);
    found.chance = std::min(found.chance, 1 / (1 + std::exp(-std::abs(odds))));
    if (odds <= 0) continue;
    found.step = one;
    break;  // what comes even more rarely is outside the iteration
  }
  if (!found.step && open.launches > 0 && log_odds_of_a_step(open) > 0)
    found.chance = std::min(found.chance, kOpen);
  return found;
}

}  // namespace rubato::progress::kernels
