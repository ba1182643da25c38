#include "analyse/forecast.h"

#include <algorithm>
#include <cmath>

#include "analyse/student_t.h"
#include "base/text.h"
#include "progress/stats.h"

namespace rubato::analyse {
namespace {

// So many standard deviations of the later halves above the others, and the first epoch was warming up.
constexpr double kBeyondNoise = 3.0;
// Timers and sensors scatter at least this much; two equal halves do not prove that nothing does.
constexpr double kLeastScatter = 1e-3;
// Of an epoch's time: less between epochs than this does not matter to the total.
constexpr double kNoBetween = 0.01;

using Values = std::vector<double>;

double deviation(const Values& values) {
  return std::sqrt(progress::variance(values).value_or(0));
}

// Relative scatter of what no warm-up touches; absent where an epoch has none.
std::optional<double> late_scatter(const std::vector<EpochCost>& epochs,
                                   std::optional<double> EpochCost::*late) {
  Values values;
  for (const EpochCost& e : epochs) {
    if (!(e.*late) || !(*(e.*late) > 0)) return std::nullopt;
    values.push_back(*(e.*late));
  }
  return std::max(kLeastScatter, deviation(values) / *progress::mean(values));
}

Values values_of(const std::vector<EpochCost>& epochs, double EpochCost::*value, bool without_first) {
  Values values;
  for (std::size_t i = without_first ? 1 : 0; i < epochs.size(); ++i) values.push_back(epochs[i].*value);
  return values;
}

bool first_is_slower(const std::vector<EpochCost>& epochs) {
  const auto scatter = late_scatter(epochs, &EpochCost::late_seconds);
  if (!scatter) return false;
  const double others = *progress::mean(values_of(epochs, &EpochCost::seconds, true));
  return epochs.front().seconds > others * (1 + kBeyondNoise * *scatter);
}

Outlook one_more(const std::vector<EpochCost>& epochs, double EpochCost::*value,
                 std::optional<double> EpochCost::*late, bool without_first) {
  const Values kept = values_of(epochs, value, without_first);
  const auto n = static_cast<double>(kept.size());
  Outlook outlook{.value = *progress::mean(kept), .interval = {}, .why_no_interval = {}};
  const auto late_part = late_scatter(epochs, late);
  if (kept.size() < 2 && !late_part) {
    outlook.why_no_interval =
        "only one epoch came after the warm-up, and its iterations were not measured apart";
    return outlook;
  }
  // The later halves hold the first epoch's, too: a drift that the kept epochs alone show too little of.
  const double scatter = std::max(deviation(kept), late_part.value_or(0) * outlook.value);
  const double degrees = std::max(1.0, n - 1);
  const double half =
      student_t_quantile(0.5 + kForecastConfidence / 2, degrees) * scatter * std::sqrt(1 + 1 / n);
  outlook.interval = Interval{std::max(0.0, outlook.value - half), outlook.value + half};
  return outlook;
}

/// What lies between epochs, in epochs.
double share_between(const std::vector<EpochCost>& epochs) {
  double between = 0;
  double inside = 0;
  for (std::size_t i = 1; i < epochs.size(); ++i) {
    between += epochs[i].seconds_before;
    inside += epochs[i].seconds;
  }
  return inside > 0 ? between / inside : 0;
}

/// From the end of one epoch to the end of the next; the first, which has none before it, gets the mean.
std::vector<EpochCost> with_between(std::vector<EpochCost> epochs) {
  const auto gaps = static_cast<double>(epochs.size() - 1);
  EpochCost& first = epochs.front();
  first.seconds_before = first.joules_before = 0;
  double seconds = 0;
  double joules = 0;
  for (EpochCost& epoch : epochs) {
    seconds += epoch.seconds_before;
    joules += epoch.joules_before;
    epoch.seconds += epoch.seconds_before;
    epoch.joules += epoch.joules_before;
  }
  first.seconds += seconds / gaps;
  first.joules += joules / gaps;
  return epochs;
}

Outlook total_of(double so_far, double remaining, const Outlook& each) {
  Outlook total{
      .value = so_far + remaining * each.value, .interval = {}, .why_no_interval = each.why_no_interval};
  if (each.interval)
    total.interval =
        Interval{so_far + remaining * each.interval->low, so_far + remaining * each.interval->high};
  return total;
}

}  // namespace

Result<Forecast> forecast_of(const std::vector<EpochCost>& epochs, std::optional<std::int64_t> planned,
                             double seconds_so_far, double joules_so_far) {
  if (epochs.size() < 2)
    return fail(ErrorCode::not_found,
                cat(epochs.empty() ? "no" : "one", " complete epoch was seen; a forecast needs two"),
                "it comes with the second epoch's end");
  Forecast f;
  f.epochs_done = static_cast<std::int64_t>(epochs.size());
  f.first_left_out = first_is_slower(epochs);
  f.epoch_seconds = one_more(epochs, &EpochCost::seconds, &EpochCost::late_seconds, f.first_left_out);
  f.epoch_joules = one_more(epochs, &EpochCost::joules, &EpochCost::late_joules, f.first_left_out);
  f.method =
      "mean of the complete epochs, in the totals with what lies between them; 95 % interval by Student's t "
      "from their scatter, the rest of the "
      "training taken as "
      "one more draw from epochs like them; a drift slower than the epochs seen is not in it, nor is the "
      "sensors' "
      "calibration";
  // A plan that is over already was another training's.
  if (!planned || *planned < f.epochs_done) return f;
  f.epochs_planned = planned;
  const auto remaining = static_cast<double>(*planned - f.epochs_done);
  const std::vector<EpochCost> whole = with_between(epochs);
  const auto total = [&](double so_far, double EpochCost::*value, std::optional<double> EpochCost::*late) {
    Outlook each = one_more(whole, value, late, f.first_left_out);
    if (epochs.size() == 2 && remaining > 0 && share_between(epochs) > kNoBetween) {
      each.interval.reset();
      each.why_no_interval = "what lies between epochs was seen once";
    }
    return total_of(so_far, remaining, each);
  };
  f.total_seconds = total(seconds_so_far, &EpochCost::seconds, &EpochCost::late_seconds);
  f.total_joules = total(joules_so_far, &EpochCost::joules, &EpochCost::late_joules);
  return f;
}

}  // namespace rubato::analyse
