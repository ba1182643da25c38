#include "progress/period/leader_traits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "progress/period/cycle_fold.h"
#include "progress/period/cycle_lengths.h"
#include "progress/period/pauses.h"
#include "progress/period/rivals.h"

namespace rubato::progress {

namespace {

constexpr double kNothing = -3;     // no fold of the updates, or no other leader
constexpr double kUnrivalled = 12;  // logarithm; no such leader
constexpr std::size_t kLeastLengths = 3;

constexpr std::array<std::string_view, kFollowedTraits> kNames = {
    // What the first ranking says.
    "chance", "rank", "lead", "over_leader",
    // Following it.
    "followed", "covered", "matched", "late", "spread", "steps", "off", "reached",
    // The cycles laid on each other (cycle_fold.h): of all columns, and of power.
    "explained", "no_half", "no_third", "no_part", "shown", "by_twos", "by_twos_z", "by_threes",
    "by_threes_z", "by_more_z", "power_explained", "power_no_part", "power_shown", "power_by_twos_z",
    "power_by_threes_z", "power_by_more_z",
    // The fold that orders the updates best.
    "over_fold", "fold_explained",
    // Between its harmonics (overtones.h), and how far two or three cycles are from whole updates, in
    // updates.
    "half", "third", "overtones_no_half", "overtones_no_third", "off_grid_twos", "off_grid_threes",
    // The best of the other leaders, less its own.
    "other_explained", "other_covered", "other_shown",
    // By the first ranking, of the leaders that are parts of it, multiples, or neither.
    "part_chance", "multiple_chance", "other_chance",
    // Share of all the variance that its cycles hold; the same of the best part, multiple, and other, less
    // its
    // own.
    "held", "part_held", "multiple_held", "other_held",
    // How much likelier the readings are by its cycles than as noise (rivals.h): a rate, and in all. How much
    // likelier those that both hold are than by the hardest other leader, a rate and in all; by the hardest
    // part, multiple, and other.
    "gain", "gain_in_all", "over_rate", "over_rival", "over_part", "over_multiple", "over_other",
    // In which order its cycles come (pauses.h); whether it is as long as from pause to pause of another.
    "uneven_by_twos_z", "uneven_by_threes_z", "uneven_by_more_z", "pauses", "pause_cycles", "pauses_uneven",
    "from_pause_to_pause"};

enum Index : std::size_t {
  kCovered = kTraits + 5,
  kExplained = kTraits + 12,
  kShown = kTraits + 16,
  kOthers = kTraits + 36,
  kHeld = kTraits + 42,
  kGains = kTraits + 46,
  kOrder = kTraits + 53
};
constexpr std::size_t kRanked = 4;  // what is known of all leaders together
constexpr std::array<Index, 3> kCompared = {kExplained, kCovered, kShown};

float as_float(double x) {
  return static_cast<float>(x);
}

/// How uneven the lengths are: half the distance of their quartiles, and of neighbours, over the median.
struct Unevenness {
  double spread = 0;
  double steps = 0;
};

Unevenness unevenness_of(const std::vector<double>& lengths, double median_s) {
  if (lengths.size() < kLeastLengths) return {1, 1};
  std::vector<double> steps;
  for (std::size_t i = 1; i < lengths.size(); ++i) steps.push_back(std::abs(lengths[i] - lengths[i - 1]));
  std::vector<double> sorted = lengths;
  std::sort(sorted.begin(), sorted.end());
  std::sort(steps.begin(), steps.end());
  const std::size_t n = sorted.size();
  return {0.5 * (sorted[n * 3 / 4] - sorted[n / 4]) / median_s, steps[steps.size() / 2] / median_s};
}

double signed_log(double x) {
  return std::copysign(std::log1p(std::abs(x)), x);
}

void compare_shares(std::vector<Leader>& leaders) {
  for (std::size_t i = 0; i < leaders.size(); ++i) {
    std::array<float, kCompared.size()> best{};
    best.fill(-1);
    std::array<float, 3> chances{};
    std::array<float, 3> held{};
    held.fill(as_float(kNothing));
    for (std::size_t j = 0; j < leaders.size(); ++j) {
      if (j == i) continue;
      for (std::size_t q = 0; q < kCompared.size(); ++q)
        best[q] = std::max(best[q], leaders[j].traits[kCompared[q]]);
      const double ratio = leaders[j].period_s / leaders[i].period_s;
      const std::size_t kind = is_multiple(1 / ratio) ? 0 : is_multiple(ratio) ? 1 : 2;
      chances[kind] = std::max(chances[kind], leaders[j].traits[kTraits]);
      held[kind] = std::max(held[kind], leaders[j].traits[kHeld] - leaders[i].traits[kHeld]);
    }
    LeaderTraits& own = leaders[i].traits;
    for (std::size_t q = 0; q < kCompared.size(); ++q)
      own[kOthers + q] = leaders.size() > 1 ? best[q] - own[kCompared[q]] : as_float(kNothing);
    std::copy(chances.begin(), chances.end(), own.begin() + kOthers + kCompared.size());
    std::copy(held.begin(), held.end(), own.begin() + kHeld + 1);
  }
}

/// What all leaders make of the readings that the shortest one's band holds.
void compare_gains(const std::vector<Judged>& candidates, const Span& span, std::vector<Leader>& leaders) {
  if (leaders.empty()) return;
  std::vector<Rival> rivals;
  const Leader* shortest = &leaders.front();
  double longest_s = 0;
  for (const Leader& leader : leaders) {
    rivals.push_back({&leader.followed.cycles, leader.length_s});
    if (leader.period_s < shortest->period_s) shortest = &leader;
    longest_s = std::max(longest_s, leader.length_s);
  }
  const Series level = high_pass(candidates[shortest->index].band->readings, 2 * longest_s);
  const double updates =
      std::max(1.0, static_cast<double>(level.size) * level.step_s / std::max(span.update_s, level.step_s));
  const Rivalry rivalry = rivalry_of(level, rivals, span.update_s);
  for (std::size_t i = 0; i < leaders.size(); ++i) {
    std::array<double, 3> least{kUnrivalled, kUnrivalled, kUnrivalled};
    double over = leaders.size() > 1 ? std::numeric_limits<double>::infinity() : rivalry.gain[i];
    for (std::size_t j = 0; j < leaders.size(); ++j) {
      if (j == i) continue;
      over = std::min(over, rivalry.over[i][j]);
      const double ratio = leaders[j].length_s / leaders[i].length_s;
      const std::size_t kind = is_multiple(1 / ratio) ? 0 : is_multiple(ratio) ? 1 : 2;
      least[kind] = std::min(least[kind], signed_log(rivalry.over[i][j]));
    }
    std::size_t at = kGains;
    for (const double x : {rivalry.gain[i] / updates, signed_log(rivalry.gain[i]), over / updates,
                           signed_log(over), least[0], least[1], least[2]})
      leaders[i].traits[at++] = as_float(x);
  }
}

void compare_order(std::vector<Leader>& leaders) {
  std::vector<CycleOrder> orders;
  orders.reserve(leaders.size());
  for (const Leader& leader : leaders) orders.push_back(order_of(leader.followed.cycles));
  for (std::size_t i = 0; i < leaders.size(); ++i) {
    double nearest = -kNothing;
    for (const CycleOrder& other : orders)
      if (other.apart_s > 0 && &other != &orders[i])
        nearest = std::min(nearest, std::abs(std::log(other.apart_s / leaders[i].length_s)));
    const CycleOrder& own = orders[i];
    const bool paced = own.apart_s > 0;
    std::size_t at = kOrder;
    for (const double x : {own.by_twos_z, own.by_threes_z, own.by_more_z, std::log1p(own.pauses),
                           paced ? std::log(own.apart_s / leaders[i].length_s) : kNothing,
                           paced ? own.unevenness : kNothing, nearest})
      leaders[i].traits[at++] = as_float(x);
  }
}

}  // namespace

std::span<const std::string_view, kFollowedTraits> followed_trait_names() {
  return kNames;
}

void describe(const Judged& judged, const std::optional<FoldedUpdates>& updates, const Span& span,
              Leader& leader) {
  std::size_t at = kTraits + kRanked;
  const double period_s = judged.candidate.period_s;
  const Followed& followed = leader.followed;
  const auto put = [&](double x) { leader.traits[at++] = as_float(x); };
  const auto lengths = lengths_of(followed.cycles, period_s, span.update_s);
  const auto runs = overlapping_lengths(followed.cycles, period_s, span.update_s);
  if (runs.size() >= kLeastLengths) leader.length_s = steady_median(runs);
  const Unevenness uneven = unevenness_of(lengths, leader.length_s);
  const double seconds = leader.level.step_s * static_cast<double>(leader.level.size);
  const auto cycles = static_cast<double>(followed.cycles.size());
  put(std::log1p(cycles));
  put(followed.covered_s / seconds);
  put(followed.alike);
  put(static_cast<double>(followed.late.size()) / (cycles + 1));
  put(uneven.spread);
  put(uneven.steps);
  put(std::abs(leader.length_s / period_s - 1));
  put(followed.cycles.empty() ? 0
                              : (followed.cycles.back().end_s - followed.cycles.front().begin_s) / seconds);
  const auto& which = leader.level.which;
  const CycleFold all = fold_cycles(leader.level, followed.cycles, 0, which.size(), span.update_s);
  for (const double x : {all.explained, all.no_half, all.no_third, all.no_part, all.shown, all.by_twos,
                         all.by_twos_z, all.by_threes, all.by_threes_z, all.by_more_z})
    put(x);
  leader.traits[kHeld] = as_float(all.explained * followed.covered_s / seconds);
  const auto power =
      static_cast<std::size_t>(std::find(which.begin(), which.end(), Column::power) - which.begin());
  const CycleFold own = power < which.size()
                            ? fold_cycles(leader.level, followed.cycles, power, power + 1, span.update_s)
                            : CycleFold{};
  for (const double x :
       {own.explained, own.no_part, own.shown, own.by_twos_z, own.by_threes_z, own.by_more_z})
    put(x);
  put(updates && updates->fold ? std::log(updates->fold->updates * updates->update_s / period_s) : kNothing);
  put(updates && updates->fold ? updates->fold->explained : kNothing);
  leader.overtones = overtones_of(high_pass(judged.band->readings, 2 * leader.length_s), leader.length_s);
  const Overtones& o = leader.overtones;
  for (const double x : {o.half, o.third, o.no_half, o.no_third}) put(x);
  const double cycle = leader.length_s / span.update_s;
  for (const double times : {2.0, 3.0}) put(std::abs(times * cycle - std::round(times * cycle)));
}

void compare(const std::vector<Judged>& candidates, const std::vector<double>& chances, const Span& span,
             std::vector<Leader>& leaders) {
  for (std::size_t rank = 0; rank < leaders.size(); ++rank) {
    LeaderTraits& own = leaders[rank].traits;
    const double chance = chances[leaders[rank].index];
    const Leader& rival = leaders[rank == 0 && leaders.size() > 1 ? 1 : 0];
    own[kTraits] = as_float(chance);
    own[kTraits + 1] = as_float(static_cast<double>(rank));
    own[kTraits + 2] = as_float(&rival == &leaders[rank] ? chance : chance - chances[rival.index]);
    own[kTraits + 3] = as_float(std::log(leaders[rank].period_s / leaders[0].period_s));
  }
  compare_shares(leaders);
  compare_gains(candidates, span, leaders);
  compare_order(leaders);
}

}  // namespace rubato::progress
