#include "progress/period/leaders.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "progress/period/cycle_fold.h"
#include "progress/period/cycle_lengths.h"
#include "progress/period/overtones.h"
#include "progress/period/own_level.h"

namespace rubato::progress {

namespace {

constexpr std::size_t kMostLeaders = 4;
constexpr double kLeastChance = 0.02;  // of those after the first
constexpr double kLeastMultiple = 0.001;
constexpr double kSame = 0.02;
constexpr double kSameLength = 0.04;
constexpr std::size_t kWellFollowed = 6;
constexpr double kNothing = -3;  // no fold of the updates, or no other leader
constexpr std::size_t kLeastLengths = 3;
constexpr double kOnGrid = 0.25;  // updates
constexpr double kOffGrid = 0.15;
constexpr double kMostParts = 5;
constexpr double kSamePart = 0.015;
// Logarithm of energies (overtones.h). Of 1,650 leaders of development traces of which this holds, 32 are the
// iteration.
constexpr double kFoldedFromAbove = -3.5;

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
    "held", "part_held", "multiple_held", "other_held"};

enum Index : std::size_t {
  kCovered = kTraits + 5,
  kExplained = kTraits + 12,
  kShown = kTraits + 16,
  kOthers = kTraits + 36,
  kHeld = kTraits + 42
};
constexpr std::size_t kRanked = 4;  // what is known of all leaders together
constexpr std::array<Index, 3> kCompared = {kExplained, kCovered, kShown};

float as_float(double x) {
  return static_cast<float>(x);
}

/// Which candidates are followed: by their chances, but none twice under two names.
class Choice {
 public:
  Choice(const std::vector<Judged>& candidates, const std::vector<double>& chances)
      : candidates_(candidates), chances_(chances), order_(candidates.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return chances[a] > chances[b]; });
  }

  /// Absent: no more. What was followed counts by the length it came to as well.
  [[nodiscard]] std::optional<std::size_t> next(const std::vector<Leader>& known) {
    for (; at_ < order_.size() && known.size() < kMostLeaders; ++at_) {
      const std::size_t i = order_[at_];
      if (!known.empty() && chances_[i] < kLeastChance) break;
      if (is_new(i, known)) return i;
    }
    if (asked_ || known.empty()) return std::nullopt;
    asked_ = true;
    return multiple_of(known);
  }

 private:
  [[nodiscard]] bool is_new(std::size_t i, const std::vector<Leader>& known) const {
    const double period_s = candidates_[i].candidate.period_s;
    return std::none_of(known.begin(), known.end(), [&](const Leader& leader) {
      if (std::abs(leader.period_s / period_s - 1) < kSame) return true;
      return leader.followed.cycles.size() >= kWellFollowed &&
             std::abs(leader.length_s / period_s - 1) < kSameLength;
    });
  }

  /// The likeliest that is the first some times: what the parts of an iteration hide.
  [[nodiscard]] std::optional<std::size_t> multiple_of(const std::vector<Leader>& known) const {
    for (const std::size_t i : order_) {
      if (chances_[i] < kLeastMultiple) break;
      const double period_s = candidates_[i].candidate.period_s;
      if ((is_multiple(period_s / known.front().period_s) ||
           is_multiple(period_s / known.front().length_s)) &&
          is_new(i, known))
        return i;
    }
    return std::nullopt;
  }

  const std::vector<Judged>& candidates_;
  const std::vector<double>& chances_;
  std::vector<std::size_t> order_;
  std::size_t at_ = 0;
  bool asked_ = false;
};

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

void describe(const Judged& judged, const std::optional<FoldedUpdates>& updates, const Span& span,
              Leader& leader, std::size_t at) {
  const double period_s = judged.candidate.period_s;
  const Followed& followed = leader.followed;
  const auto put = [&](double x) { leader.traits[at++] = as_float(x); };
  const auto lengths = lengths_of(followed.cycles, period_s, span.update_s);
  if (lengths.size() >= kLeastLengths) leader.length_s = steady_median(lengths);
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

void compare(std::vector<Leader>& leaders) {
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

}  // namespace

bool repeats_by_sampling(const Leader& leader, const std::vector<Leader>& leaders, double update_s) {
  const auto off_grid = [&](double length_s) {
    const double cycle = length_s / update_s;
    return std::abs(cycle - std::round(cycle));
  };
  const Overtones& o = leader.overtones;
  if (o.no_half == kUnknownOvertones || off_grid(leader.length_s) > kOnGrid) return false;
  return std::any_of(leaders.begin(), leaders.end(), [&](const Leader& part) {
    const double times = std::round(leader.length_s / part.length_s);
    if (times < 2 || times > kMostParts || off_grid(part.length_s) < kOffGrid) return false;
    if (std::abs(leader.length_s / part.length_s / times - 1) > kSamePart) return false;
    const double between = times == 2 ? o.no_half : times == 3 ? o.no_third : std::max(o.no_half, o.no_third);
    return between < kFoldedFromAbove;
  });
}

std::span<const std::string_view, kFollowedTraits> followed_trait_names() {
  return kNames;
}

std::vector<Leader> leaders_of(const Samples& samples, const std::vector<Judged>& candidates,
                               const std::vector<Traits>& traits, const std::vector<double>& chances,
                               const std::optional<FoldedUpdates>& updates, const Span& span) {
  std::vector<Leader> out;
  Choice choice(candidates, chances);
  while (const auto found = choice.next(out)) {
    const std::size_t i = *found;
    const Judged& judged = candidates[i];
    Leader leader;
    leader.index = i;
    leader.period_s = leader.length_s = judged.candidate.period_s;
    leader.level = own_level(samples, judged, span);
    leader.followed = follow(leader.level, judged.candidate.period_s, span.update_s);
    std::copy(traits[i].begin(), traits[i].end(), leader.traits.begin());
    describe(judged, updates, span, leader, kTraits + kRanked);
    out.push_back(std::move(leader));
  }
  for (std::size_t rank = 0; rank < out.size(); ++rank) {
    LeaderTraits& own = out[rank].traits;
    const double chance = chances[out[rank].index];
    const Leader& rival = out[rank == 0 && out.size() > 1 ? 1 : 0];
    own[kTraits] = as_float(chance);
    own[kTraits + 1] = as_float(static_cast<double>(rank));
    own[kTraits + 2] = as_float(&rival == &out[rank] ? chance : chance - chances[rival.index]);
    own[kTraits + 3] = as_float(std::log(out[rank].period_s / out[0].period_s));
  }
  compare(out);
  return out;
}

}  // namespace rubato::progress
