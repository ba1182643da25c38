#include "plan/layers/settings_in_use.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "plan/layers/iteration.h"
#include "plan/layers/lap_search.h"

namespace rubato::plan {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// Of the energy: what a further round could still bring is not worth looking for.
constexpr double kWorthLooking = 1e-6;
// Pairs of settings looked at, all rounds together.
constexpr double kPairsInRounds = 2e8;
constexpr double kFewestRounds = 2;
constexpr double kFewestAfterRough = 1;
constexpr double kMostRounds = 12;
// What a table is cut down to where only settings and price are wanted.
constexpr std::size_t kRoughSegments = 500;

/// Of a table too large to look at every pair of settings at every price. At a price, one look at all of them
/// says which are of use and what no plan goes below; the price is then found among those alone.
class SettingsInUse {
 public:
  SettingsInUse(const SegmentTable& table, const Switching& switching, const LayerGoal& goal,
                const std::vector<bool>& may_change, std::size_t fallback)
      : table_(table),
        switching_(switching),
        goal_(goal),
        may_change_(may_change),
        fallback_(fallback),
        all_(table, switching, goal.host, may_change, 0),
        in_use_(table.settings.size(), false) {
    in_use_[fallback] = in_use_[table.at_default] = true;
  }

  PriceAnswer run() {
    const double budget = time_budget(table_, goal_.max_slowdown).value();
    const double affordable = kPairsInRounds / pairs_of(table_, switching_, may_change_);
    PriceAnswer best = rough();
    const bool known = !best.setting.empty();
    const auto rounds =
        static_cast<int>(std::clamp(affordable, known ? kFewestAfterRough : kFewestRounds, kMostRounds));
    double bound = 0;
    for (int round = 0;; ++round) {
      const double price = best.price.value();
      all_.solve({1, price}, std::nullopt);
      const std::size_t start = all_.cheapest_start();
      bound = std::max(bound, all_.to_go(0, start) - price * budget);
      const bool any = !best.setting.empty();
      if (round == rounds || (any && best.joules - bound <= kWorthLooking * best.joules)) break;
      const LapSearch::Path path = all_.path_from(start);
      bool more = take_in(path.setting);
      // Long delays make other settings of use in laps that end where they began; the rough table told which.
      if (!known && path.end != start && !is_free(switching_)) {
        all_.solve({1, price}, path.end);
        more = take_in(all_.path_from(path.end).setting) || more;
      }
      if (!more && any) break;
      PriceAnswer found = among_those_in_use(price);
      if (found.joules < best.joules) best = std::move(found);
    }
    best.bound = std::min(bound, best.joules);
    best.closed = best.joules <= bound * (1 + 1e-9);
    return best;
  }

 private:
  /// Settings and a price to begin with: those of the table with neighbouring segments put together, where
  /// that is less work.
  PriceAnswer rough() {
    PriceAnswer out;
    out.joules = kInfinite;
    const std::size_t each = table_.segments.size() / kRoughSegments;
    if (is_free(switching_) || each < 2 || std::count(may_change_.begin(), may_change_.end(), false) > 0) {
      out.price = Watts(first_price());
      return out;
    }
    const SegmentTable few = put_together(each);
    const std::vector<bool> may_change(few.segments.size(), true);
    const PriceAnswer found = search_among_used(few, switching_, goal_, may_change, fallback_);
    take_in(found.setting);
    return among_those_in_use(found.price.value());
  }
  [[nodiscard]] SegmentTable put_together(std::size_t each) const {
    const std::size_t settings = table_.settings.size();
    SegmentTable out{{}, table_.settings, {}, table_.at_default};
    for (std::size_t i = 0; i < table_.segments.size(); ++i) {
      if (i % each == 0) {
        out.segments.push_back(table_.segments[i]);
        out.costs.resize(out.costs.size() + settings);
      }
      SegmentCost* sum = &out.costs[out.costs.size() - settings];
      for (std::size_t a = 0; a < settings; ++a) {
        sum[a].time += table_.cost(i, a).time;
        sum[a].energy += table_.cost(i, a).energy;
      }
    }
    return out;
  }

  /// What a second would be worth if switching were free: each segment by itself.
  [[nodiscard]] double first_price() const {
    const double budget = time_budget(table_, goal_.max_slowdown).value();
    double low = 0;
    double high = 0;
    for (double next = 1; free_time(high) > budget && next < 1e9; next *= 4) {
      low = high;
      high = next;
    }
    for (int i = 0; i < 8; ++i) {
      const double middle = (low + high) / 2;
      (free_time(middle) > budget ? low : high) = middle;
    }
    return high;
  }
  [[nodiscard]] double free_time(double price) const {
    double time = 0;
    for (std::size_t i = 0; i < table_.segments.size(); ++i) {
      const SegmentCost* best = nullptr;
      double least = kInfinite;
      for (std::size_t a = 0; a < table_.settings.size(); ++a) {
        const SegmentCost& cost = table_.cost(i, a);
        const double priced = (cost.energy + (goal_.host + Watts(price)) * cost.time).value();
        if (priced < least) best = &cost;
        least = std::min(least, priced);
      }
      if (best != nullptr) time += best->time.value();
    }
    return time;
  }

  bool take_in(const std::vector<std::size_t>& setting) {
    bool more = false;
    for (const std::size_t a : setting) {
      more = more || !in_use_[a];
      in_use_[a] = true;
    }
    return more;
  }

  PriceAnswer among_those_in_use(double price) const {
    std::vector<std::size_t> kept;
    for (std::size_t a = 0; a < in_use_.size(); ++a)
      if (in_use_[a]) kept.push_back(a);
    SegmentTable few{table_.segments, {}, {}, 0};
    Switching between{{}, {}, switching_.stalled, switching_.dwell};
    std::size_t fallback = 0;
    for (std::size_t k = 0; k < kept.size(); ++k) {
      few.settings.push_back(table_.settings[kept[k]]);
      if (kept[k] == table_.at_default) few.at_default = k;
      if (kept[k] == fallback_) fallback = k;
      for (const std::size_t to : kept) {
        const std::size_t pair = kept[k] * table_.settings.size() + to;
        if (!switching_.delay.empty()) between.delay.push_back(switching_.delay[pair]);
        if (!switching_.stall.empty()) between.stall.push_back(switching_.stall[pair]);
      }
    }
    for (std::size_t i = 0; i < table_.segments.size(); ++i)
      for (const std::size_t a : kept) few.costs.push_back(table_.cost(i, a));
    PriceAnswer found = search_at_once(few, between, goal_, may_change_, fallback, Watts(price));
    for (std::size_t& setting : found.setting) setting = kept[setting];
    return found;
  }

  const SegmentTable& table_;
  const Switching& switching_;
  const LayerGoal& goal_;
  const std::vector<bool>& may_change_;
  std::size_t fallback_;
  LapSearch all_;
  std::vector<bool> in_use_;
};

}  // namespace

PriceAnswer search_among_used(const SegmentTable& table, const Switching& switching, const LayerGoal& goal,
                              const std::vector<bool>& may_change, std::size_t fallback) {
  return SettingsInUse(table, switching, goal, may_change, fallback).run();
}

}  // namespace rubato::plan
