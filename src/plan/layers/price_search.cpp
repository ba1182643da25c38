#include "plan/layers/price_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "plan/layers/iteration.h"
#include "plan/layers/label_search.h"
#include "plan/layers/lap_search.h"
#include "plan/layers/settings_in_use.h"

namespace rubato::plan {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-12;
// Of the energy: what a further price could still bring is not worth looking for.
constexpr double kWorthLooking = 1e-6;
constexpr int kPrices = 60;
// Shares of a guessed price that are tried on its other side.
constexpr std::array kAroundGuess = {0.03, 0.2, 1.0};
// Pairs of settings looked at: for one price, and to close the gap; on one core some tenths of a second each.
constexpr double kPairsForPrice = 4e6;
constexpr double kPairsToClose = 3e7;
constexpr std::size_t kLabels = 200'000;
// Above this many pairs in one solve, settings are taken in as they turn out to be of use.
constexpr double kPairsAtOnce = 1e6;
// Segments played through to try another setting for one stretch at a time.
constexpr double kPolish = 2e7;
// Of the energy, where even those in use are that many: the price is found to within this.
constexpr double kNearEnough = 2e-5;

bool free_of(const std::vector<Seconds>& times) {
  return std::all_of(times.begin(), times.end(), [](Seconds s) { return s <= Seconds(0); });
}
struct Lap {
  std::vector<std::size_t> setting;
  double time = 0;
  double joules = 0;
  bool repeats = true;
};

class PriceSearch {
 public:
  PriceSearch(const SegmentTable& table, const Switching& switching, const LayerGoal& goal,
              const std::vector<bool>& may_change)
      : table_(table), switching_(switching), may_change_(may_change), host_(goal.host) {
    budget_ = time_budget(table, goal.max_slowdown).value();
    free_ = is_free(switching);
    pairs_ = pairs_of(table, switching, may_change);
    large_ = pairs_ > kPairsAtOnce;
    // Laps put together of two change at the iteration's begin and at the cut.
    for (std::size_t i = 1; may_change.front() && i < may_change.size(); ++i)
      if (may_change[i]) cuts_.push_back(i);
    for (const std::size_t origin : origins(may_change))
      laps_.emplace_back(table, switching, host_, may_change, origin);
  }

  /// `guess`: a price to begin with, 0 where nothing is known.
  PriceAnswer run(std::size_t fallback, double guess) {
    best_ = made(std::vector<std::size_t>(table_.segments.size(), fallback));
    PriceAnswer answer;
    double price = 0;
    if (const std::optional<Lap> slow = outside(guess)) price = raise(*slow);
    polish();
    if (!large_ && best_.joules > bound_ * (1 + kRounding)) close(price);
    answer.setting = best_.setting;
    answer.price = Watts(price);
    answer.joules = best_.joules;
    answer.bound = std::min(bound_, best_.joules);
    answer.closed = closed_ || best_.joules <= bound_ * (1 + 1e-9);
    return answer;
  }

 private:
  /// A lap is looked for from segments at which no change is under way. Every segment, where that is little
  /// work; else the first, and those where a pass begins, as far as the work allows.
  [[nodiscard]] std::vector<std::size_t> origins(const std::vector<bool>& may_change) const {
    const std::size_t segments = table_.segments.size();
    std::vector<std::size_t> out;
    if (free_) return {0};
    const double few = std::max(1.0, kPairsForPrice / pairs_);
    for (std::size_t i = 0; i < segments; ++i)
      if (i == 0 || (table_.segments[i].pass != table_.segments[i - 1].pass && may_change[i]))
        out.push_back(i);
    if (static_cast<double>(segments * table_.settings.size()) <= few) {
      out.resize(segments);
      std::iota(out.begin(), out.end(), std::size_t{0});
    }
    if (static_cast<double>(out.size()) > few) out.resize(static_cast<std::size_t>(few));
    return out;
  }

  [[nodiscard]] Lap made(std::vector<std::size_t> setting) const {
    const Iteration iteration = run_iteration(table_, switching_, setting);
    return {std::move(setting), iteration.cost.time.value(), joules_with(iteration.cost, host_),
            iteration.repeats};
  }

  /// Keeps it where it is the best so far inside the budget; says whether it is inside.
  bool consider(const Lap& lap) {
    const bool inside = lap.time <= budget_ * (1 + kRounding);
    if (inside && lap.repeats && lap.joules < best_.joules) best_ = lap;
    return inside;
  }

  /// A lap outside the budget, and in best_ one inside it, of prices near the guess as far as they go.
  /// Nothing: at no price is the cheapest lap outside.
  std::optional<Lap> outside(double guess) {
    Lap slow = cheapest(guess);
    bound_ = lower_;
    bool inside = consider(slow);
    if (!large_) {
      // From far apart: there is time, and laps on the way are tried for themselves.
      if (!inside) return slow;
      if (guess <= 0) return std::nullopt;
      slow = cheapest(0);
      bound_ = std::max(bound_, lower_);
      return consider(slow) ? std::nullopt : std::optional(std::move(slow));
    }
    for (const double step : kAroundGuess) {
      if (guess <= 0) break;
      Lap lap = cheapest(guess * (inside ? 1 - step : 1 + step));
      bound_ = std::max(bound_, lower_);
      const bool was = std::exchange(inside, consider(lap));
      if (!was && inside) return slow;
      slow = std::move(lap);
      if (was && !inside) return slow;
    }
    if (inside) return std::nullopt;
    return slow;
  }

  /// The cheapest lap at this price; lower_ is what no lap inside the budget goes below, as far as was
  /// looked.
  Lap cheapest(double price) {
    const Weights weights{1, price};
    if (large_ && end_ && !free_ && looks_++ % 4 != 3) {
      laps_.front().solve(weights, end_);
      lower_ = 0;
      return made(laps_.front().path_from(*end_).setting);
    }
    double least = kInfinite;
    lower_ = kInfinite;
    std::optional<std::vector<std::size_t>> found;
    auto tries = static_cast<std::size_t>(std::max(2.0, kPairsForPrice / pairs_));
    for (std::size_t k = 0; k < laps_.size(); ++k) {
      LapSearch& lap = laps_[k];
      lap.solve(weights, std::nullopt);
      const std::size_t start = lap.cheapest_start();
      const double open = lap.to_go(0, start);
      if (!(open < least)) continue;
      LapSearch::Path path = lap.path_from(start);
      if (path.end == start || free_) {
        least = open;
        found = std::move(path.setting);
        lower_ = std::min(lower_, least);
        continue;
      }
      // It must end where it began: ends in the order of what they cost at least.
      std::vector<double> at_least;
      for (std::size_t a = 0; a < lap.settings(); ++a) at_least.push_back(lap.to_go(0, a));
      std::vector<std::size_t> ends(lap.settings());
      std::iota(ends.begin(), ends.end(), std::size_t{0});
      std::sort(ends.begin(), ends.end(),
                [&](std::size_t a, std::size_t b) { return at_least[a] < at_least[b]; });
      for (const std::size_t end : ends) {
        if (!(at_least[end] < least)) break;
        if (tries == 0) {
          lower_ = std::min(lower_, at_least[end]);
          break;
        }
        --tries;
        lap.solve(weights, end);
        if (!(lap.to_go(0, end) < least)) continue;
        least = lap.to_go(0, end);
        found = lap.path_from(end).setting;
      }
      lower_ = std::min(lower_, least);
    }
    if (found) end_ = found->back();
    lower_ -= price * budget_;
    return found ? made(std::move(*found)) : best_;
  }

  /// Safeguarded secant: the price at which the line between a lap outside the budget and one inside it is
  /// level, until no lap lies below that line.
  double raise(Lap slow) {
    Lap quick = best_;
    double price = 0;
    for (int i = 0; i < kPrices && best_.joules - bound_ > kWorthLooking * best_.joules; ++i) {
      if (!(slow.time > quick.time) || !(quick.joules > slow.joules)) break;
      price = (quick.joules - slow.joules) / (slow.time - quick.time);
      const double level = quick.joules + price * quick.time;
      const Lap lap = cheapest(price);
      bound_ = std::max(bound_, lower_);
      const bool inside = consider(lap);
      if (!(lap.joules + price * lap.time < level * (1 - (large_ ? kNearEnough : kRounding)))) break;
      (inside ? quick : slow) = lap;
    }
    mix(slow, quick);
    mix_backwards(slow, quick);
    return price;
  }

  /// Between two laps of the same price lie those that follow the one up to some segment and the other from
  /// there: where many segments would change at that price, they fill the budget.
  void mix(const Lap& slow, const Lap& quick) {
    halve([&](std::size_t k) {
      std::vector<std::size_t> setting = quick.setting;
      std::copy_n(slow.setting.begin(), k, setting.begin());
      return setting;
    });
  }
  void mix_backwards(const Lap& slow, const Lap& quick) {
    std::reverse(cuts_.begin(), cuts_.end());
    halve([&](std::size_t k) {
      std::vector<std::size_t> setting = slow.setting;
      std::copy_n(quick.setting.begin(), k, setting.begin());
      return setting;
    });
  }
  /// `with`: the lap that has k segments of the slow one; of none it keeps the budget, of all it does not.
  template <class With>
  void halve(With with) {
    std::size_t inside = 0;
    std::size_t outside = cuts_.size();
    while (inside < outside) {
      const std::size_t k = (inside + outside) / 2;
      if (consider(made(with(cuts_[k]))))
        inside = k + 1;
      else
        outside = k;
    }
  }

  /// One stretch at a time to another setting, as long as that helps: uses up what the price left over.
  void polish() {
    const std::size_t segments = table_.segments.size();
    double work = kPolish;
    for (bool better = true; better;) {
      better = false;
      for (std::size_t begin = 0, end = 0; begin < segments; begin = end) {
        const std::vector<std::size_t> now = best_.setting;
        for (end = begin + 1; end < segments && now[end] == now[begin];) ++end;
        for (std::size_t a = 0; a < table_.settings.size(); ++a) {
          if ((work -= static_cast<double>(segments)) < 0) return;
          if (a == now[begin] || !may_change_[begin] || !may_change_[end % segments]) continue;
          std::vector<std::size_t> other = now;
          std::fill(other.begin() + static_cast<std::ptrdiff_t>(begin),
                    other.begin() + static_cast<std::ptrdiff_t>(end), a);
          const double before = best_.joules;
          consider(made(std::move(other)));
          better = better || best_.joules < before * (1 - kRounding);
        }
      }
    }
  }

  void close(double price) {
    double pairs = kPairsToClose;
    std::size_t labels = kLabels;
    for (LapSearch& lap : laps_) {
      if (free_) {
        closed_ = closed_to(lap, price, std::nullopt, labels);
        return;
      }
      lap.solve({1, price}, std::nullopt);
      pairs -= pairs_;
      std::vector<double> at_least;
      for (std::size_t a = 0; a < lap.settings(); ++a) at_least.push_back(lap.to_go(0, a) - price * budget_);
      for (std::size_t end = 0; end < lap.settings(); ++end) {
        if (!(at_least[end] < best_.joules * (1 - kRounding))) continue;
        if ((pairs -= 2 * pairs_) < 0 || !closed_to(lap, price, end, labels)) return;
      }
    }
    closed_ = true;
  }

  bool closed_to(LapSearch& lap, double price, std::optional<std::size_t> end, std::size_t& labels) {
    LabelBounds bounds{budget_, price, {}, {}, best_.joules};
    lap.solve({0, 1}, end);
    bounds.quickest = lap.all_to_go();
    lap.solve({1, price}, end);
    bounds.to_go = lap.all_to_go();
    LabelAnswer answer = label_search(lap, end, bounds, labels);
    if (answer.setting) consider(made(std::move(*answer.setting)));
    return answer.complete;
  }

  const SegmentTable& table_;
  const Switching& switching_;
  const std::vector<bool>& may_change_;
  Watts host_;
  double budget_ = 0;
  double pairs_ = 0;    // of settings, in one solve()
  bool large_ = false;  // mostly one origin and the end last found are looked at
  std::optional<std::size_t> end_;
  unsigned looks_ = 0;
  bool free_ = false;  // switching costs nothing: where a lap ends does not matter
  std::vector<LapSearch> laps_;
  std::vector<std::size_t> cuts_;
  Lap best_;
  double lower_ = 0;
  double bound_ = 0;
  bool closed_ = false;
};

}  // namespace

double pairs_of(const SegmentTable& table, const Switching& switching, const std::vector<bool>& may_change) {
  const auto settings = static_cast<double>(table.settings.size());
  const auto open = static_cast<double>(std::count(may_change.begin(), may_change.end(), true));
  return settings *
         (static_cast<double>(table.segments.size()) + (is_free(switching) ? 2.0 : settings) * open);
}

bool is_free(const Switching& switching) {
  return free_of(switching.delay) && free_of(switching.stall) && switching.dwell <= Seconds(0);
}

PriceAnswer search_at_once(const SegmentTable& table, const Switching& switching, const LayerGoal& goal,
                           const std::vector<bool>& may_change, std::size_t fallback, Watts guess) {
  return PriceSearch(table, switching, goal, may_change).run(fallback, guess.value());
}

PriceAnswer search_by_price(const SegmentTable& table, const Switching& switching, const LayerGoal& goal,
                            const std::vector<bool>& may_change, std::size_t fallback) {
  if (pairs_of(table, switching, may_change) > kPairsAtOnce)
    return search_among_used(table, switching, goal, may_change, fallback);
  return search_at_once(table, switching, goal, may_change, fallback, Watts(0));
}

}  // namespace rubato::plan
