// Every board and workload the simulator has, with telemetry alone: the iteration the session finds against
// the trainer's own marks, which it does not get to see.
#include <gtest/gtest.h>
#include <rubato/mark_layout.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "conduct/virtual_run.h"
#include "device/sim/profile.h"
#include "device/sim/work.h"
#include "progress/stats.h"

namespace rubato::conduct {
namespace {

struct Pair {
  std::string board;
  std::string workload;
};

std::vector<Pair> all_pairs() {
  std::vector<Pair> pairs;
  for (const auto& board : device::sim::list_profiles())
    for (const auto& workload : device::sim::list_workloads()) pairs.push_back({board.name, workload.name});
  return pairs;
}

std::vector<TimePoint> begins(const std::vector<Mark>& marks) {
  std::vector<TimePoint> out;
  for (const Mark& mark : marks)
    if (mark.kind == RUBATO_MARK_ITERATION_BEGIN) out.push_back(mark.at);
  return out;
}

/// The middle one of the whole run, as the last word tells it.
Seconds true_period(const std::vector<TimePoint>& begins) {
  std::vector<double> spacings;
  for (std::size_t i = 1; i < begins.size(); ++i) spacings.push_back((begins[i] - begins[i - 1]).value());
  return Seconds(progress::median(spacings).value());
}

/// How much of what the power reading does is told by where in its iteration the program is: 0 to 1.
double told_by_the_phase(const std::vector<FastReading>& readings, const std::vector<TimePoint>& begins) {
  constexpr std::size_t kBins = 20;
  progress::Moments all;
  std::array<progress::Moments, kBins> bins;
  std::size_t i = 0;
  for (const FastReading& reading : readings) {
    while (i + 1 < begins.size() && begins[i + 1] <= reading.at) ++i;
    // The first iterations still warm the board up.
    if (i < 20 || i + 1 >= begins.size() || !reading.power) continue;
    const double phase = (reading.at - begins[i]) / (begins[i + 1] - begins[i]);
    bins[std::min(kBins - 1, static_cast<std::size_t>(phase * kBins))].add(reading.power->value());
    all.add(reading.power->value());
  }
  double inside = 0;
  for (const auto& bin : bins) inside += bin.variance().value_or(0) * static_cast<double>(bin.count());
  const double whole = all.variance().value_or(0) * static_cast<double>(all.count());
  return whole > 0 ? 1 - inside / whole : 0;
}

// What a detector can be asked to find, by the truth alone: an iteration of three sensor updates or more, in
// whose rhythm most of what the sensor shows goes.
constexpr double kUpdates = 3;
constexpr double kRhythm = 0.6;

TEST(IterationFromTelemetry, IsFoundOnMostBoardsAndWorkloadsWhoseSensorShowsIt) {
  int found = 0;
  int visible = 0;
  int surely_wrong = 0;
  for (const Pair& pair : all_pairs()) {
    VirtualRunOptions options{.profiles = {pair.board}, .scenario = {}, .wanted = {}, .marks = false};
    options.train = sim_trainer::TrainOptions{.workload = pair.workload, .iterations = 150};
    VirtualRun virtual_run(options);
    const record::RunRecord run = virtual_run.run();
    const auto iterations = begins(virtual_run.marks_made());
    const Seconds truth = true_period(iterations);
    const Seconds update = run.devices.at(0).info.sensor.update_period.value_or(Seconds(0.1));
    const double rhythm = told_by_the_phase(run.devices.at(0).fast, iterations);
    const bool shown = truth >= kUpdates * update && rhythm >= kRhythm;
    std::optional<IterationEstimate> last;
    for (const auto& statement : run.statements)
      if (statement.used) last = statement.estimate;
    const bool claims = last && last->periodic && last->relation == PeriodRelation::exact;
    const bool right = claims && abs(*last->period - truth) < 0.01 * truth;
    if (shown) ++visible;
    if (shown && right) ++found;
    if (claims && !right && last->confidence > 0.9) ++surely_wrong;
    if (right || !shown) continue;
    std::cout << pair.board << ", " << pair.workload << ": " << truth.value() << " s, " << truth / update
              << " updates, " << rhythm << " of the power in its rhythm; told "
              << (last && last->period ? last->period->value() : 0.0) << " s, "
              << (last ? last->confidence : 0.0) << " sure: " << (last ? last->why : "nothing") << "\n";
  }
  std::cout << found << " of " << visible << " that show one, " << all_pairs().size() << " in all\n";
  EXPECT_EQ(surely_wrong, 0);
  EXPECT_GT(visible, 40);
  EXPECT_GE(found, visible * 19 / 20);
}

}  // namespace
}  // namespace rubato::conduct
