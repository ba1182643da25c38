#include "progress/period/cycle_tracker.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "progress/period/cycle_chain.h"
#include "progress/period/likeness.h"

namespace rubato::progress {

namespace {

constexpr double kReach = 0.22;         // of a period: how far a mark may lie from where it is expected
constexpr double kMatches = 0.5;        // as likeness
constexpr double kFoundAgain = 0.65;    // asks more: there is more room for chance
constexpr double kLearning = 0.2;       // share of the newest cycle in the template
constexpr double kEnd = 1.6;            // periods after the last mark, in which another would be seen
constexpr std::size_t kNeighbours = 4;  // quarters of a period on both sides
constexpr std::size_t kMostAnchors = 3;
constexpr std::size_t kApart = 12;  // quarters of a period
constexpr double kSearch = 6;       // periods to look ahead for the end of a stall

class Template {
 public:
  Template(const Series& series, std::size_t middle, std::size_t half) : series_(series), half_(half) {
    for (std::size_t i = 0; i <= 2 * half; ++i) {
      const double x = (static_cast<double>(i) - static_cast<double>(half)) / static_cast<double>(half + 1);
      weights_.push_back(1 - std::abs(x));  // marks are set by what is near them
    }
    for (const auto& x : series.columns)
      values_.emplace_back(x.begin() + static_cast<std::ptrdiff_t>(middle - half),
                           x.begin() + static_cast<std::ptrdiff_t>(middle + half + 1));
  }

  [[nodiscard]] bool fits(std::ptrdiff_t middle) const {
    return middle >= static_cast<std::ptrdiff_t>(half_) &&
           middle + static_cast<std::ptrdiff_t>(half_) < static_cast<std::ptrdiff_t>(series_.size);
  }

  [[nodiscard]] double match(std::size_t middle) const {
    double products = 0;
    double squares = 0;
    for (std::size_t c = 0; c < values_.size(); ++c) {
      const double* x = series_.columns[c].data() + (middle - half_);
      const double* t = values_[c].data();
      for (std::size_t i = 0; i < weights_.size(); ++i) {
        products += weights_[i] * x[i] * t[i];
        squares += weights_[i] * (x[i] * x[i] + t[i] * t[i]);
      }
    }
    return squares > 0 ? 2 * products / squares : 0.0;
  }

  void learn(std::size_t middle, double share = kLearning) {
    for (std::size_t c = 0; c < values_.size(); ++c)
      for (std::size_t i = 0; i < weights_.size(); ++i)
        values_[c][i] += share * (series_.columns[c][middle - half_ + i] - values_[c][i]);
  }

 private:
  const Series& series_;
  std::size_t half_;
  std::vector<double> weights_;
  std::vector<std::vector<double>> values_;
};

struct Mark {
  double at = 0;  // in grid steps
  double alike = 0;
  bool paused = false;  // something else lies between the one before and this
};

/// The place near `expected` that matches best, a little less willingly the farther off.
std::optional<Mark> best_near(const Template& shape, double expected, double low, double high,
                              double period) {
  std::optional<Mark> best;
  double best_score = -1;
  double before = 0;
  double after = 0;
  const auto from = static_cast<std::ptrdiff_t>(std::ceil(low));
  const auto to = static_cast<std::ptrdiff_t>(std::floor(high));
  std::vector<double> score;
  for (std::ptrdiff_t i = from; i <= to; ++i) {
    if (!shape.fits(i)) {
      score.push_back(-1);
      continue;
    }
    const double off = (static_cast<double>(i) - expected) / period;
    const double alike = shape.match(static_cast<std::size_t>(i));
    score.push_back(alike - 1.5 * off * off);
    if (score.back() > best_score) {
      best_score = score.back();
      best = Mark{static_cast<double>(i), alike};
    }
  }
  if (!best) return best;
  const auto k = static_cast<std::size_t>(best->at - static_cast<double>(from));
  if (k > 0 && k + 1 < score.size() && score[k - 1] > -1 && score[k + 1] > -1) {
    before = score[k - 1];
    after = score[k + 1];
    const double bend = before - 2 * score[k] + after;
    if (bend < 0) best->at += std::clamp(0.5 * (before - after) / bend, -0.5, 0.5);
  }
  return best;
}

/// Where the cycle that starts at `from` changes most.
std::size_t strongest_change(const Series& series, std::size_t from, std::size_t period) {
  const std::size_t width = std::max<std::size_t>(1, period / 12);
  std::size_t best = from + width;
  double best_jump = -1;
  for (std::size_t i = from + width; i + width <= from + period + width && i + width < series.size; ++i) {
    double jump = 0;
    for (const auto& x : series.columns) {
      double step = 0;
      for (std::size_t j = 0; j < width; ++j) step += x[i + j] - x[i - 1 - j];
      jump += step * step;
    }
    if (jump > best_jump) {
      best_jump = jump;
      best = i;
    }
  }
  return best;
}

/// Follows the marks from `start` to one side; `direction` is +1 or -1.
void run(Template shape, Mark start, double period, int direction, const Series& series,
         std::vector<Mark>& marks, std::optional<double>& lost) {
  Mark last = start;
  double local = period;
  const double end = direction > 0 ? static_cast<double>(series.size) : 0.0;
  while (true) {
    const double expected = last.at + direction * local;
    if (direction > 0 ? expected + 0.5 * local >= end : expected - 0.5 * local <= end) return;
    auto next = best_near(shape, expected, expected - kReach * local, expected + kReach * local, local);
    if (!next || next->alike < kMatches) {
      // Held up, or another regime: the first good match ahead.
      next.reset();
      for (double ahead = 1.0; ahead < kSearch && !next; ahead += 0.5) {
        const double at = last.at + direction * local * ahead;
        auto again = best_near(shape, at, at - 0.25 * local, at + 0.25 * local, 4 * local);
        if (again && again->alike >= kFoundAgain) next = again;
      }
      if (!next) {
        lost = series.begin_s + series.step_s * (last.at + 0.5 * direction * local);
        return;
      }
    } else {
      local += 0.25 * (std::abs(next->at - last.at) - local);
      shape.learn(static_cast<std::size_t>(std::lround(next->at)));
    }
    marks.push_back(*next);
    last = *next;
  }
}

/// Sorts what lies between the marks into cycles and late ones.
void take_cycles(const std::vector<Mark>& marks, const Series& series, Followed& out) {
  std::vector<double> lengths;
  std::vector<double> alikes;
  for (std::size_t i = 1; i < marks.size(); ++i) lengths.push_back(marks[i].at - marks[i - 1].at);
  const auto time = [&](const Mark& m) { return series.begin_s + series.step_s * (m.at + 0.5); };
  for (std::size_t i = 1; i < marks.size(); ++i) {
    // Usual is what the neighbours are: the period may change along the trace.
    std::vector<double> near(lengths.begin() + static_cast<std::ptrdiff_t>(i > 5 ? i - 5 : 0),
                             lengths.begin() + static_cast<std::ptrdiff_t>(std::min(i + 4, lengths.size())));
    std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(near.size() / 2), near.end());
    const double usual = near[near.size() / 2];
    const Cycle cycle{time(marks[i - 1]), time(marks[i])};
    if (marks[i].paused || lengths[i - 1] > 1.35 * usual) {
      out.late.push_back(cycle);
    } else {
      out.cycles.push_back(cycle);
      out.covered_s += cycle.length_s();
      alikes.push_back(marks[i].alike);
    }
  }
  out.found_at_s = time(marks.front());
  if (!alikes.empty()) {
    std::nth_element(alikes.begin(), alikes.begin() + static_cast<std::ptrdiff_t>(alikes.size() / 2),
                     alikes.end());
    out.alike = alikes[alikes.size() / 2];
  }
}

/// Where cycles are likest to the next, and change most; the likest first.
std::vector<std::size_t> anchors_of(const Series& series, double period_s, std::size_t whole) {
  const auto stretches = likeness(series, period_s, period_s, 0.06 * period_s);
  const std::size_t stride = std::max<std::size_t>(1, whole / 4);
  const std::size_t half = whole / 2;
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    if (!stretches[i].known) continue;
    double alike = stretches[i].alike;
    for (std::size_t j = 1; j <= kNeighbours; ++j) {
      if (i >= j && stretches[i - j].known) alike += stretches[i - j].alike;
      if (i + j < stretches.size() && stretches[i + j].known) alike += stretches[i + j].alike;
    }
    if (alike > 0) order.emplace_back(alike, i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::size_t> out;
  std::vector<std::size_t> taken;
  for (const auto& [alike, i] : order) {
    if (out.size() == kMostAnchors) break;
    if (std::any_of(taken.begin(), taken.end(),
                    [&, at = i](std::size_t t) { return (t > at ? t - at : at - t) < kApart; }))
      continue;
    taken.push_back(i);
    std::size_t anchor = strongest_change(series, i * stride, whole);
    if (anchor < half) anchor += whole;
    if (anchor + half + 1 < series.size) out.push_back(anchor);
  }
  return out;
}

}  // namespace

Followed follow(const Series& series, double period_s, double update_s) {
  Followed out;
  const double period = period_s / series.step_s;
  const auto whole = static_cast<std::size_t>(std::lround(period));
  if (whole < 3 || series.size < 3 * whole) return out;
  const auto anchors = anchors_of(series, period_s, whole);
  std::vector<Mark> marks;
  for (const ChainMark& mark : chain_of_cycles(series, anchors, period, update_s / series.step_s))
    marks.push_back({mark.at, mark.alike, mark.paused});
  if (marks.empty()) return out;
  if (marks.back().at + kEnd * period < static_cast<double>(series.size))
    out.lost_at_s = series.begin_s + series.step_s * (marks.back().at + 0.5 * period);
  take_cycles(marks, series, out);
  return out;
}

Followed follow_on(const Series& series, double period_s, const std::vector<double>& marks_s) {
  Followed out;
  const double period = period_s / series.step_s;
  const auto whole = static_cast<std::size_t>(std::lround(period));
  const std::size_t half = whole / 2;
  if (whole < 3 || marks_s.empty()) return out;
  std::optional<Template> shape;
  double learnt = 0;
  double last = 0;
  for (const double mark_s : marks_s) {
    const double at = (mark_s - series.begin_s) / series.step_s - 0.5;
    const auto middle = static_cast<std::size_t>(std::max(0L, std::lround(at)));
    if (middle < half || middle + half + 1 >= series.size) continue;
    learnt += 1;
    if (!shape)
      shape.emplace(series, middle, half);
    else
      shape->learn(middle, 1 / learnt);
    last = at;
  }
  if (!shape) return out;
  std::vector<Mark> marks{{last, 1.0}};
  run(*shape, marks.front(), period, +1, series, marks, out.lost_at_s);
  take_cycles(marks, series, out);
  return out;
}

}  // namespace rubato::progress
