#include "progress/period/counted_lengths.h"

#include <algorithm>
#include <cmath>

namespace rubato::progress {

namespace {

// Of 13,300 generated development traces these mended the length stated of nine and spoilt none. Counting
// what does not stick to updates as well spoilt as many as it mended: a pause between epochs looks the same.
constexpr double kRun = 12;  // cycles
constexpr double kFewestRuns = 2;
constexpr double kOnGrid = 0.1;       // updates that the usual length is from a whole number of them
constexpr double kOneUpdate = 1.3;    // updates that something held is longer than its cycles at most
constexpr double kMostHeld = 10;      // cycles between two that were followed: more could not be counted
constexpr double kIndependent = 0.3;  // of the variance that means of independent lengths have

struct Mark {
  double at_s = 0;
  double count = 0;      // of cycles before it
  bool goes_on = false;  // from the mark before
};

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double usual_length(const std::vector<Cycle>& cycles) {
  std::vector<double> lengths;
  lengths.reserve(cycles.size());
  for (const Cycle& cycle : cycles) lengths.push_back(cycle.length_s());
  return median_of(std::move(lengths));
}

bool on_grid(const std::vector<Cycle>& cycles, double period_s, double update_s) {
  const auto runs = overlapping_lengths(cycles, period_s, update_s);
  if (runs.empty()) return false;
  const double updates = median_of(runs) / update_s;
  return std::abs(updates - std::round(updates)) <= kOnGrid;
}

/// Where cycles begin and end. What lies between two goes on where it can be whole cycles and an update.
std::vector<Mark> marks_of(const std::vector<Cycle>& cycles, double update_s) {
  constexpr double kJoinedSeconds = 1e-6;
  const double usual = usual_length(cycles);
  std::vector<Mark> out;
  for (const Cycle& cycle : cycles) {
    const double gap = out.empty() ? 0 : cycle.begin_s - out.back().at_s;
    if (out.empty() || gap > kJoinedSeconds) {
      const double held = std::round(gap / usual);
      const bool whole =
          held >= 1 && held <= kMostHeld && std::abs(gap - held * usual) <= kOneUpdate * update_s;
      out.push_back({cycle.begin_s, out.empty() ? 0 : out.back().count + held, whole});
    }
    out.push_back({cycle.end_s, out.back().count + 1, true});
  }
  return out;
}

std::vector<TimedLength> means_over_runs(const std::vector<Mark>& marks) {
  std::vector<TimedLength> out;
  std::size_t first = 0;
  for (std::size_t i = 1; i < marks.size(); ++i) {
    if (!marks[i].goes_on) first = i;
    while (first + 1 < i && marks[i].count - marks[first + 1].count >= kRun) ++first;
    const double count = marks[i].count - marks[first].count;
    if (count >= kRun) out.push_back({marks[i].at_s, (marks[i].at_s - marks[first].at_s) / count});
  }
  return out;
}

double mean_of(const std::vector<TimedLength>& lengths) {
  double sum = 0;
  for (const TimedLength& length : lengths) sum += length.length_s;
  return sum / static_cast<double>(lengths.size());
}

/// Around their mean, against what it would be if no length told of another.
double variance_ratio(const std::vector<Mark>& marks, const std::vector<TimedLength>& runs) {
  const double mean = mean_of(runs);
  double of_runs = 0;
  for (const TimedLength& run : runs) of_runs += (run.length_s - mean) * (run.length_s - mean);
  double of_one = 0;
  double ones = 0;
  for (std::size_t i = 1; i < marks.size(); ++i) {
    if (!marks[i].goes_on) continue;
    const double held = marks[i].count - marks[i - 1].count;
    const double off = marks[i].at_s - marks[i - 1].at_s - held * mean;
    of_one += off * off / held;
    ones += 1;
  }
  return of_runs / static_cast<double>(runs.size()) / (of_one / ones / kRun);
}

}  // namespace

std::optional<std::vector<TimedLength>> counted_lengths(const std::vector<Cycle>& cycles, double period_s,
                                                        double update_s) {
  if (cycles.empty() || period_s >= kTimedWell * update_s || !on_grid(cycles, period_s, update_s))
    return std::nullopt;
  const auto marks = marks_of(cycles, update_s);
  if (marks.back().count < kFewestRuns * kRun) return std::nullopt;
  auto runs = means_over_runs(marks);
  if (static_cast<double>(runs.size()) < kRun || variance_ratio(marks, runs) > kIndependent)
    return std::nullopt;
  return runs;
}

}  // namespace rubato::progress
