#include "plan/layers/lap_search.h"

#include <algorithm>
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
// Groups of one setting are passed over by so many at a time at the least.
constexpr std::size_t kBins = 8;
constexpr std::size_t kSmallestBlock = 4;
constexpr std::size_t kLargestBlock = 1024;

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
      time_before_((segments_ + 1) * settings_, 0),
      energy_before_((segments_ + 1) * settings_, 0) {
  for (std::size_t i = 0; i < segments_; ++i) {
    may_change_[i] = may_change[segment_of(i)] ? 1 : 0;
    for (std::size_t a = 0; a < settings_; ++a) {
      const SegmentCost& cost = table.cost(segment_of(i), a);
      const double joules = joules_with(cost, host);
      const std::size_t at = i * stride_ + a;
      const bool runs = std::isfinite(joules);
      if (!runs && holes_before_.empty()) holes_before_.assign((segments_ + 1) * settings_, 0);
      time_[at] = runs ? cost.time.value() : 0;
      energy_[at] = joules;
      time_before_[of(a) + i + 1] = time_before_[of(a) + i] + time_[at];
      energy_before_[of(a) + i + 1] = energy_before_[of(a) + i] + (runs ? joules : 0);
    }
  }
  if (!holes_before_.empty())
    for (std::size_t a = 0; a < settings_; ++a)
      for (std::size_t i = 0; i < segments_; ++i)
        holes_before_[of(a) + i + 1] =
            holes_before_[of(a) + i] + (std::isfinite(energy_[i * stride_ + a]) ? 0 : 1);
  group_targets(switching);
  bin_groups();
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

void LapSearch::bin_groups() {
  double widest = 0;
  double quickest = kInfinite;
  for (std::size_t a = 0; a < settings_; ++a) {
    bins_of_.push_back(bins_.size());
    const std::size_t begin = groups_of_[a];
    const std::size_t end = groups_of_[a + 1];
    // Itself beside one other is dropped: only a longer run is worth keeping whole.
    for (std::size_t g = begin; g < end; ++g)
      if (Group& group = groups_[g]; group.end - group.begin == 2) {
        if (group.begin == a) ++group.begin;
        if (group.end == a + 1) --group.end;
      }
    const auto at = [&](std::size_t group) { return groups_.begin() + static_cast<std::ptrdiff_t>(group); };
    std::sort(at(begin), at(end),
              [](const Group& one, const Group& other) { return one.delay < other.delay; });
    const std::size_t each = (end - begin + kBins - 1) / kBins;
    for (std::size_t g = begin; g < end; g += each) {
      bins_.push_back({g, std::min(g + each, end)});
      edges_.push_back(groups_[g].delay);
      widest = std::max(widest, groups_[bins_.back().end - 1].delay - groups_[g].delay);
    }
    edges_.push_back(end > begin ? groups_[end - 1].delay : 0);
    for (std::size_t g = begin; g < end; ++g)
      only_target_.push_back(
          static_cast<std::uint32_t>(groups_[g].end - groups_[g].begin == 1 ? groups_[g].begin : settings_));
    if (time_before_[of(a) + segments_] > 0)
      quickest = std::min(quickest, time_before_[of(a) + segments_] / static_cast<double>(segments_));
  }
  bins_of_.push_back(bins_.size());
  // About as long as where the tails of one bin may end.
  block_ = static_cast<std::size_t>(
      std::clamp(widest / quickest, static_cast<double>(kSmallestBlock), static_cast<double>(kLargestBlock)));
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
    least_cost_[i] = *std::min_element(cost, cost + settings_);
  }
  to_go_.assign((segments_ + 1) * stride_, kInfinite);
  for (std::size_t a = 0; a < settings_; ++a)
    if (!end || *end == a) to_go_[segments_ * stride_ + a] = 0;
  if (wait_ > 0) after_wait_.assign((segments_ + 1) * stride_, kInfinite);
  wait_hint_.assign(settings_, segments_);
  begin_bounds();
  for (std::size_t i = segments_; i-- > 0;) {
    double* row = &to_go_[i * stride_];
    const double* cost = &cost_[i * stride_];
    const double* next = &to_go_[(i + 1) * stride_];
    for (std::size_t a = 0; a < stride_; ++a) row[a] = cost[a] + next[a];
    bound_tails(i);
    if (may_change_[i] != 0) leaps_from(i);
    if (wait_ > 0 && !exact_wait_) wait_at(i);
    bound_arrivals(i);
  }
}

double LapSearch::cost_between(std::size_t begin, std::size_t end, std::size_t setting) const {
  const std::size_t from = of(setting) + begin;
  const std::size_t to = of(setting) + end;
  if (!holes_before_.empty() && holes_before_[to] != holes_before_[from]) return kInfinite;
  return weights_.energy * (energy_before_[to] - energy_before_[from]) +
         weights_.time * (time_before_[to] - time_before_[from]);
}

/// Costs of standing at a segment's begin while the dwell runs on.
void LapSearch::wait_at(std::size_t segment) {
  for (std::size_t a = 0; a < settings_; ++a) {
    const double* before = &time_before_[of(a)];
    const double target = (before[segment] + wait_) * (1 - kRounding);
    if (before[segments_] < target) continue;
    std::size_t& q = wait_hint_[a];
    while (q > segment + 1 && before[q - 1] >= target) --q;
    after_wait_[segment * stride_ + a] = cost_between(segment, q, a) + to_go(q, a);
  }
}

std::size_t LapSearch::cheapest_start() const {
  return static_cast<std::size_t>(
      std::min_element(to_go_.begin(), to_go_.begin() + static_cast<std::ptrdiff_t>(settings_)) -
      to_go_.begin());
}

}  // namespace rubato::plan
