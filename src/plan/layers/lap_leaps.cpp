// The leaps of LapSearch: the cheapest change that may be asked for at a segment. Where every pair of
// settings has a delay of its own, most targets are ruled out by bounds, many at a time.
#include <algorithm>
#include <array>
#include <limits>

#include "plan/layers/lap_search.h"

namespace rubato::plan {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kLanes = 8;
// Less than what run_iteration() forgives: a tail that ends at a segment's end here does so there.
constexpr double kRounding = 1e-11;

/// The least of row[b] + share * cost[b]. Lanes of their own let the compiler use vectors.
double least_sum(const double* row, const double* cost, double share, std::size_t begin, std::size_t end) {
  std::array<double, kLanes> least{};
  least.fill(kInfinite);
  std::size_t b = begin;
  for (; b + kLanes <= end; b += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double sum = row[b + lane] + share * cost[b + lane];
      least[lane] = sum < least[lane] ? sum : least[lane];
    }
  double out = *std::min_element(least.begin(), least.end());
  for (; b < end; ++b) out = std::min(out, row[b] + share * cost[b]);
  return out;
}

double least_of(const double* row, std::size_t count) {
  std::array<double, kLanes> least{};
  least.fill(kInfinite);
  for (std::size_t b = 0; b < count; b += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      least[lane] = row[b + lane] < least[lane] ? row[b + lane] : least[lane];
  return *std::min_element(least.begin(), least.end());
}

}  // namespace

std::size_t LapSearch::last_before(double target, std::size_t from, std::size_t low, std::size_t high) const {
  const double* before = &time_before_[of(from)];
  return static_cast<std::size_t>(std::lower_bound(before + low + 1, before + high + 1, target) - before) - 1;
}

LapSearch::Tail LapSearch::tail(std::size_t segment, std::size_t from, const Group& group,
                                std::size_t last) const {
  if (group.delay <= 0) return {segment, 1, 0, true};
  const double* before = &time_before_[of(from)];
  const double target = before[segment] + group.delay;
  if (target * (1 - kRounding) > before[segments_]) return {};
  // The hint is at most a few segments too late.
  while (last > segment && before[last] >= target * (1 - kRounding)) --last;
  if (!holes_before_.empty() && holes_before_[of(from) + last + 1] != holes_before_[of(from) + segment])
    return {};
  const std::size_t at = last * stride_ + from;
  const double share = std::min(1.0, (target - before[last]) / time_[at]);
  const double rest = share > 1 - kRounding ? 0 : 1 - share;
  const double* energy = &energy_before_[of(from)];
  return {last, rest, energy[last] - energy[segment] + (1 - rest) * energy_[at], true};
}

double LapSearch::base(const Tail& tail, const Group& group) const {
  return weights_.energy * (tail.energy + stalled_ * group.stall) +
         weights_.time * (group.delay + group.stall);
}

std::optional<std::size_t> LapSearch::free_at(const Tail& tail, const Group& group, std::size_t to) const {
  const std::size_t next = tail.segment + 1;
  double wait = wait_;
  if (wait > 0 && exact_wait_)
    wait = dwell_ - group.delay - group.stall - tail.rest * time_[tail.segment * stride_ + to];
  if (wait <= kRounding * dwell_) return next;
  const double target = (time_before_[of(to) + next] + wait) * (1 - kRounding);
  if (time_before_[of(to) + segments_] < target) return std::nullopt;
  return last_before(target, to, next, segments_) + 1;
}

void LapSearch::begin_bounds() {
  least_arrived_.assign(segments_ + 1, kInfinite);
  tail_bound_.assign((segments_ + 1) * settings_, kInfinite);
  excess_.assign((segments_ / block_ + 1) * stride_, kInfinite);
  edge_hint_.assign(edges_.size(), segments_ - 1);
  favourite_.assign(settings_, groups_.size());
  favourite_end_.assign(settings_, 0);
  bound_arrivals(segments_);
}

/// What the earlier segments of a lap at one setting cost.
double LapSearch::spent(std::size_t segment, std::size_t setting) const {
  return weights_.energy * energy_before_[of(setting) + segment] +
         weights_.time * time_before_[of(setting) + segment];
}

void LapSearch::bound_tails(std::size_t segment) {
  const double least = least_cost_[segment] + least_arrived_[segment + 1];
  for (std::size_t a = 0; a < settings_; ++a) {
    double* bound = &tail_bound_[of(a) + segment];
    bound[0] = std::min(bound[1], spent(segment, a) + least);
  }
}

void LapSearch::bound_arrivals(std::size_t segment) {
  const double* there = &(exact_wait_ ? to_go_ : arrived())[segment * stride_];
  const double least = least_arrived_[segment] = least_of(there, stride_);
  if (!(least < kInfinite)) return;  // nobody arrives there
  double* excess = &excess_[segment / block_ * stride_];
  for (std::size_t b = 0; b < stride_; ++b) excess[b] = std::min(excess[b], there[b] - least);
}

/// The segment in which the tail of that edge's delay ends. Nothing: not in this lap.
std::optional<std::size_t> LapSearch::edge(std::size_t number, std::size_t segment, std::size_t from) {
  if (edges_[number] <= 0) return segment;
  const double* before = &time_before_[of(from)];
  const double target = (before[segment] + edges_[number]) * (1 - kRounding);
  if (target > before[segments_]) return std::nullopt;
  std::size_t& last = edge_hint_[number];
  while (last > segment && before[last] >= target) --last;
  return last;
}

void LapSearch::leaps_from(std::size_t segment) {
  at_once_.reset();
  for (std::size_t a = 0; a < settings_; ++a) leaps_of(segment, a);
}

void LapSearch::leaps_of(std::size_t segment, std::size_t from) {
  if (bins_of_[from] == bins_of_[from + 1]) return;
  const double& best = to_go_[segment * stride_ + from];
  const double spent_before = spent(segment, from);
  const double* bounds = &tail_bound_[of(from)];
  const auto may_pay = [&](const std::optional<std::size_t>& first) {
    return first && bounds[*first] - spent_before < best;
  };
  std::size_t number = bins_of_[from] + from;  // of the edge: each setting has one more than it has bins
  std::optional<std::size_t> first = edge(number, segment, from);
  if (!may_pay(first)) return;
  // What was best one segment later is a good one here, and rules out most others.
  if (favourite_[from] < groups_.size()) leap(segment, from, favourite_[from], favourite_end_[from]);
  for (std::size_t bin = bins_of_[from]; bin < bins_of_[from + 1] && may_pay(first); ++bin) {
    const std::optional<std::size_t> next = edge(++number, segment, from);
    const std::size_t last = next.value_or(segments_ - 1);
    leaps_in(bins_[bin], segment, from, *first, last);
    first = next;
  }
}

/// The groups of a bin, whose tails all end between two segments.
void LapSearch::leaps_in(const Bin& bin, std::size_t segment, std::size_t from, std::size_t first,
                         std::size_t last) {
  const double& best = to_go_[segment * stride_ + from];
  const double bound = tail_bound_[of(from) + first] - spent(segment, from);
  const double begin = time_before_[of(from) + segment];
  const std::size_t block = (first + 1) / block_;
  const std::size_t blocks = (last + 1) / block_ - block + 1;
  const double* excess = &excess_[block * stride_];
  const double* other = blocks > 1 ? excess + stride_ : excess;
  for (std::size_t g = bin.begin; g < bin.end; ++g) {
    if (const std::size_t b = only_target_[g]; b < settings_ && blocks <= 2)
      if (!(bound + std::min(excess[b], other[b]) < best)) continue;
    if (g == favourite_[from]) continue;  // looked at first
    leap(segment, from, g, last_before(begin + groups_[g].delay, from, first, last));
  }
}

void LapSearch::leap(std::size_t segment, std::size_t from, std::size_t number, std::size_t last) {
  const Group& group = groups_[number];
  const Tail to = tail(segment, from, group, last);
  if (!to.possible) return;
  if (favourite_[from] == number) favourite_end_[from] = to.segment;
  double& best = to_go_[segment * stride_ + from];
  const double before = base(to, group);
  const double rest = to.rest > 0 ? to.rest * least_cost_[to.segment] : 0;
  if (!(before + least_arrived_[to.segment + 1] + rest < best)) return;
  const bool whole = group.delay <= 0 && group.begin == 0 && group.end == settings_;
  const double least = whole && at_once_ ? *at_once_ : least_leap(to, group);
  if (whole) at_once_ = least;
  if (!(before + least < best)) return;
  best = before + least;
  favourite_[from] = number;
  favourite_end_[from] = to.segment;
}

double LapSearch::least_leap(const Tail& tail, const Group& group) const {
  const std::size_t next = tail.segment + 1;
  const double* cost = &cost_[tail.segment * stride_];
  if (wait_ > 0 && exact_wait_) {
    double least = kInfinite;
    for (std::size_t b = group.begin; b < group.end; ++b)
      if (const auto until = free_at(tail, group, b)) {
        const double rest = tail.rest > 0 ? tail.rest * cost[b] : 0;
        least = std::min(least, rest + cost_between(next, *until, b) + to_go(*until, b));
      }
    return least;
  }
  const double* row = &arrived()[next * stride_];
  if (group.end - group.begin == 1)
    return row[group.begin] + (tail.rest > 0 ? tail.rest * cost[group.begin] : 0);
  const std::size_t end = group.end == settings_ ? stride_ : group.end;
  if (tail.rest > 0) return least_sum(row, cost, tail.rest, group.begin, end);
  return *std::min_element(row + group.begin, row + group.end);
}

}  // namespace rubato::plan
