#include "plan/layers/lap_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "plan/layers/iteration.h"

namespace rubato::plan {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kLanes = 8;
// Less than what run_iteration() forgives: a tail that ends at a segment's end here does so there.
constexpr double kRounding = 1e-11;
constexpr double kPairsWithExactWait = 1e5;

/// The least of row[b] + share * cost[b]. Lanes of their own let the compiler use vectors.
double least_sum(const double* row, const double* cost, double share, std::size_t begin, std::size_t end) {
  std::array<double, kLanes> least;
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
  std::array<double, kLanes> least;
  least.fill(kInfinite);
  for (std::size_t b = 0; b < count; b += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      least[lane] = row[b + lane] < least[lane] ? row[b + lane] : least[lane];
  return *std::min_element(least.begin(), least.end());
}

}  // namespace

LapSearch::LapSearch(const SegmentTable& table, const Switching& switching, Watts host,
                     const std::vector<bool>& may_change, std::size_t origin)
    : segments_(table.segments.size()),
      settings_(table.settings.size()),
      stride_((settings_ + kLanes - 1) / kLanes * kLanes),
      origin_(origin),
      stalled_((switching.stalled + host).value()),
      dwell_(switching.dwell.value()),
      wait_(0),
      exact_wait_(static_cast<double>(segments_ * settings_ * settings_) <= kPairsWithExactWait),
      may_change_(segments_),
      time_(segments_ * stride_, 0),
      energy_(segments_ * stride_, kInfinite),
      time_before_((segments_ + 1) * stride_, 0),
      energy_before_((segments_ + 1) * stride_, 0) {
  for (std::size_t i = 0; i < segments_; ++i) {
    may_change_[i] = may_change[segment_of(i)] ? 1 : 0;
    for (std::size_t a = 0; a < settings_; ++a) {
      const SegmentCost& cost = table.cost(segment_of(i), a);
      const double joules = joules_with(cost, host);
      const std::size_t at = i * stride_ + a;
      const bool runs = std::isfinite(joules);
      if (!runs && holes_before_.empty()) holes_before_.assign((segments_ + 1) * stride_, 0);
      time_[at] = runs ? cost.time.value() : 0;
      energy_[at] = joules;
      time_before_[at + stride_] = time_before_[at] + time_[at];
      energy_before_[at + stride_] = energy_before_[at] + (runs ? joules : 0);
    }
  }
  if (!holes_before_.empty())
    for (std::size_t i = 0; i < segments_; ++i)
      for (std::size_t a = 0; a < settings_; ++a)
        holes_before_[(i + 1) * stride_ + a] =
            holes_before_[i * stride_ + a] + (std::isfinite(energy_[i * stride_ + a]) ? 0 : 1);
  group_targets(switching);
}

void LapSearch::group_targets(const Switching& switching) {
  double shortest = kInfinite;
  for (std::size_t a = 0; a < settings_; ++a) {
    groups_of_.push_back(groups_.size());
    for (std::size_t b = 0; b < settings_; ++b) {
      // A change to itself is no change, and never cheaper than staying: any group may hold it.
      const bool itself = a == b;
      const double delay = switching.delay_of(a, b, settings_).value();
      const double stall = switching.stall_of(a, b, settings_).value();
      const bool first = groups_.size() == groups_of_.back();
      if (!first && (itself || (groups_.back().delay == delay && groups_.back().stall == stall))) {
        groups_.back().end = b + 1;
      } else if (!itself) {
        groups_.push_back({delay, stall, first && b == 1 && a == 0 ? 0 : b, b + 1});
      }
      if (!itself) shortest = std::min(shortest, delay + stall);
    }
  }
  groups_of_.push_back(groups_.size());
  if (settings_ > 1) wait_ = std::max(0.0, dwell_ - shortest);
  if (wait_ <= kRounding * dwell_) wait_ = 0;
}

/// The last segment in [low, high] that begins before `target`, counted at the setting's own pace.
std::size_t LapSearch::last_before(double target, std::size_t from, std::size_t low, std::size_t high) const {
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    if (time_before_[middle * stride_ + from] < target)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

LapSearch::Tail LapSearch::tail(std::size_t segment, std::size_t from, const Group& group,
                                std::size_t last) const {
  if (group.delay <= 0) return {segment, 1, 0, true};
  const double begin = time_before_[segment * stride_ + from];
  const double target = begin + group.delay;
  if (target * (1 - kRounding) > time_before_[segments_ * stride_ + from]) return {};
  // The hint of the backward pass is at most a few segments too late.
  while (last > segment && time_before_[last * stride_ + from] >= target * (1 - kRounding)) --last;
  const std::size_t at = last * stride_ + from;
  if (!holes_before_.empty() && holes_before_[at + stride_] != holes_before_[segment * stride_ + from])
    return {};
  const double share = std::min(1.0, (target - time_before_[at]) / time_[at]);
  const double rest = share > 1 - kRounding ? 0 : 1 - share;
  return {last, rest,
          energy_before_[at] - energy_before_[segment * stride_ + from] + (1 - rest) * energy_[at], true};
}

double LapSearch::base(const Tail& tail, const Group& group) const {
  return weights_.energy * (tail.energy + stalled_ * group.stall) +
         weights_.time * (group.delay + group.stall);
}

void LapSearch::solve(const Weights& weights, std::optional<std::size_t> end) {
  weights_ = weights;
  cost_.resize(segments_ * stride_);
  least_cost_.resize(segments_);
  for (std::size_t i = 0; i < segments_; ++i) {
    const double* energy = &energy_[i * stride_];
    const double* time = &time_[i * stride_];
    double* cost = &cost_[i * stride_];
    for (std::size_t a = 0; a < stride_; ++a)
      cost[a] = energy[a] < kInfinite ? weights.energy * energy[a] + weights.time * time[a] : kInfinite;
    least_cost_[i] = least_of(cost, stride_);
  }
  to_go_.assign((segments_ + 1) * stride_, kInfinite);
  for (std::size_t a = 0; a < settings_; ++a)
    if (!end || *end == a) to_go_[segments_ * stride_ + a] = 0;
  if (wait_ > 0) after_wait_.assign((segments_ + 1) * stride_, kInfinite);
  least_arrived_.assign(segments_ + 1, kInfinite);
  if (wait_ <= 0 || exact_wait_) least_arrived_[segments_] = 0;
  tail_hint_.assign(groups_.size(), segments_ - 1);
  wait_hint_.assign(settings_, segments_);
  for (std::size_t i = segments_; i-- > 0;) {
    double* row = &to_go_[i * stride_];
    const double* cost = &cost_[i * stride_];
    const double* next = &to_go_[(i + 1) * stride_];
    for (std::size_t a = 0; a < stride_; ++a) row[a] = cost[a] + next[a];
    if (may_change_[i] != 0) leaps_from(i);
    if (wait_ > 0 && !exact_wait_) wait_at(i);
    const double* there = exact_wait_ ? row : &arrived()[i * stride_];
    least_arrived_[i] = least_of(there, stride_);
  }
}

double LapSearch::least_leap(const Tail& tail, const Group& group) const {
  const std::size_t next = tail.segment + 1;
  if (wait_ > 0 && exact_wait_) {
    double least = kInfinite;
    for (std::size_t b = group.begin; b < group.end; ++b)
      if (const auto until = free_at(tail, group, b)) {
        const double rest = tail.rest > 0 ? tail.rest * cost_[tail.segment * stride_ + b] : 0;
        least = std::min(least, rest + cost_between(next, *until, b) + to_go(*until, b));
      }
    return least;
  }
  const double* row = &arrived()[next * stride_];
  const std::size_t end = group.end == settings_ ? stride_ : group.end;
  if (tail.rest > 0) return least_sum(row, &cost_[tail.segment * stride_], tail.rest, group.begin, end);
  return *std::min_element(row + group.begin, row + group.end);
}

void LapSearch::leaps_from(std::size_t segment) {
  double* row = &to_go_[segment * stride_];
  // Without delay every setting leaps to the same place: looked up once.
  std::optional<double> at_once;
  for (std::size_t a = 0; a < settings_; ++a) {
    for (std::size_t g = groups_of_[a]; g < groups_of_[a + 1]; ++g) {
      const Group& group = groups_[g];
      const Tail to = tail(segment, a, group, tail_hint_[g]);
      if (!to.possible) continue;
      tail_hint_[g] = to.segment;
      const double before = base(to, group);
      const std::size_t next = to.segment + 1;
      const double bound =
          before + least_arrived_[next] + (to.rest > 0 ? to.rest * least_cost_[to.segment] : 0);
      if (!(bound < row[a])) continue;
      const bool whole = group.delay <= 0 && group.begin == 0 && group.end == settings_;
      if (whole && at_once) {
        row[a] = std::min(row[a], before + *at_once);
        continue;
      }
      const double least = least_leap(to, group);
      if (whole) at_once = least;
      row[a] = std::min(row[a], before + least);
    }
  }
}

double LapSearch::cost_between(std::size_t begin, std::size_t end, std::size_t setting) const {
  const std::size_t from = begin * stride_ + setting;
  const std::size_t to = end * stride_ + setting;
  if (!holes_before_.empty() && holes_before_[to] != holes_before_[from]) return kInfinite;
  return weights_.energy * (energy_before_[to] - energy_before_[from]) +
         weights_.time * (time_before_[to] - time_before_[from]);
}

std::optional<std::size_t> LapSearch::free_at(const Tail& tail, const Group& group, std::size_t to) const {
  const std::size_t next = tail.segment + 1;
  double wait = wait_;
  if (wait > 0 && exact_wait_)
    wait = dwell_ - group.delay - group.stall - tail.rest * time_[tail.segment * stride_ + to];
  if (wait <= kRounding * dwell_) return next;
  const double target = (time_before_[next * stride_ + to] + wait) * (1 - kRounding);
  if (time_before_[segments_ * stride_ + to] < target) return std::nullopt;
  return last_before(target, to, next, segments_) + 1;
}

/// Costs of standing at a segment's begin while the dwell runs on.
void LapSearch::wait_at(std::size_t segment) {
  for (std::size_t a = 0; a < settings_; ++a) {
    const double target = (time_before_[segment * stride_ + a] + wait_) * (1 - kRounding);
    if (time_before_[segments_ * stride_ + a] < target) continue;
    std::size_t& q = wait_hint_[a];
    while (q > segment + 1 && time_before_[(q - 1) * stride_ + a] >= target) --q;
    after_wait_[segment * stride_ + a] = cost_between(segment, q, a) + to_go(q, a);
  }
}

std::size_t LapSearch::cheapest_start() const {
  return static_cast<std::size_t>(
      std::min_element(to_go_.begin(), to_go_.begin() + static_cast<std::ptrdiff_t>(settings_)) -
      to_go_.begin());
}

LapSearch::Path LapSearch::path_from(std::size_t start) const {
  Path path{std::vector<std::size_t>(segments_, start), start};
  std::size_t i = 0;
  std::size_t at = start;
  while (i < segments_) {
    const double stay = cost_[i * stride_ + at] + to_go(i + 1, at);
    std::size_t until = i + 1;
    // Costs that differ by rounding alone are no reason to change.
    double best = stay * (1 - 1e-13);
    std::size_t target = at;
    if (may_change_[i] != 0 && to_go(i, at) < best) {
      for (std::size_t g = groups_of_[at]; g < groups_of_[at + 1]; ++g) {
        const Group& group = groups_[g];
        const double reach = time_before_[i * stride_ + at] + group.delay;
        const Tail to = tail(i, at, group, last_before(reach, at, i, segments_ - 1));
        if (!to.possible) continue;
        const double before = base(to, group);
        for (std::size_t b = group.begin; b < group.end; ++b) {
          const auto there = free_at(to, group, b);
          if (b == at || !there) continue;
          const double rest = to.rest > 0 ? to.rest * cost_[to.segment * stride_ + b] : 0;
          const double whole = before + rest + cost_between(to.segment + 1, *there, b) + to_go(*there, b);
          if (!(whole < best)) continue;
          best = whole;
          target = b;
          until = *there;
        }
      }
    }
    for (; i < until; ++i) path.setting[segment_of(i)] = target;
    at = target;
  }
  path.end = at;
  return path;
}

void LapSearch::ways_on(std::size_t segment, std::size_t setting, std::vector<Leap>& out) const {
  out.clear();
  const std::size_t at = segment * stride_ + setting;
  if (std::isfinite(energy_[at])) out.push_back({segment + 1, setting, time_[at], energy_[at]});
  if (may_change_[segment] == 0) return;
  for (std::size_t g = groups_of_[setting]; g < groups_of_[setting + 1]; ++g) {
    const Group& group = groups_[g];
    const double reach = time_before_[at] + group.delay;
    const Tail to = tail(segment, setting, group, last_before(reach, setting, segment, segments_ - 1));
    if (!to.possible) continue;
    for (std::size_t b = group.begin; b < group.end; ++b) {
      if (b == setting) continue;
      const std::size_t k = to.segment * stride_ + b;
      if (to.rest > 0 && !std::isfinite(energy_[k])) continue;
      Leap leap{to.segment + 1, b, group.delay + group.stall, to.energy + stalled_ * group.stall};
      if (to.rest > 0) {
        leap.time += to.rest * time_[k];
        leap.energy += to.rest * energy_[k];
      }
      const auto there = free_at(to, group, b);
      if (!there || std::isinf(cost_between(leap.segment, *there, b))) continue;
      leap.time += time_before_[*there * stride_ + b] - time_before_[leap.segment * stride_ + b];
      leap.energy += energy_before_[*there * stride_ + b] - energy_before_[leap.segment * stride_ + b];
      leap.segment = *there;
      out.push_back(leap);
    }
  }
}

}  // namespace rubato::plan
