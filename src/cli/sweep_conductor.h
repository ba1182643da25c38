// Carries a sweep out: run after run, each in a child process, until all settings are measured or something
// ends it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/sweep_child.h"
#include "cli/sweep_facts.h"
#include "cli/sweep_options.h"
#include "experiment/sweep_state.h"
#include "experiment/sweep_summary.h"

namespace rubato::cli {

/// How far a sweep has come and, where it is not through, why: `status` is what rubato exits with.
struct SweepEnd {
  int status = 0;
  std::string why;  // empty: through
  std::vector<std::pair<predict::KnobPoint, std::string>> skipped;
};

class SweepConductor {
 public:
  SweepConductor(const Invocation& invocation, const SweepOptions& options, const SweepPlan& plan,
                 const SweepFacts& facts, Interrupts& interrupts, experiment::SweepState& state);

  [[nodiscard]] SweepEnd run();

 private:
  /// One run of the command with the settings that `strategy` makes, which begin with `at`; null: as found.
  [[nodiscard]] ChildEnd start(const predict::KnobPoint& at, std::unique_ptr<govern::Strategy> strategy);
  /// Its record; nothing where the sweep has to end, and end_ says why.
  [[nodiscard]] std::optional<record::RunRecord> one_run(const predict::KnobPoint& at);
  [[nodiscard]] std::optional<record::RunRecord> read(const ChildEnd& child);
  /// False where the run ended otherwise than it should have.
  [[nodiscard]] bool ended_well(const ChildEnd& child, const std::string& where);
  [[nodiscard]] bool interrupted();
  [[nodiscard]] bool keep(experiment::SweepMeasurement measurement);
  /// False where the sweep has to end.
  [[nodiscard]] bool warm_up();
  [[nodiscard]] bool whole_runs();
  /// Warms up and, where the sweep goes on with a setting, measures a control run before it.
  [[nodiscard]] bool begin(const experiment::SweepStep& first);
  [[nodiscard]] bool measure(const experiment::SweepStep& step);
  /// Whether --stop-early leaves it out, which end_ then says.
  [[nodiscard]] bool left_out(const experiment::SweepStep& step);
  [[nodiscard]] bool inside_one_run();
  [[nodiscard]] bool keep_all(const std::vector<experiment::SweepStep>& left,
                              std::vector<experiment::SweepMeasurement> measured);
  [[nodiscard]] bool judge_found_clocks(const record::RunRecord& run);
  /// False where a control run shows other clocks than those before the interruption did.
  [[nodiscard]] bool at_found_clocks(const experiment::SweepMeasurement& latest);
  /// Measured in a stretch with a usable control run. Without one it cannot be compared, and is still to do.
  [[nodiscard]] bool done(const experiment::SweepStep& step) const;
  [[nodiscard]] std::size_t steps_left() const;
  [[nodiscard]] bool was_left_out(const experiment::SweepStep& step) const;
  [[nodiscard]] predict::KnobPoint point_of(const experiment::SweepStep& step) const;
  void tell(const experiment::SweepMeasurement& measurement) const;
  [[nodiscard]] bool stop(int status, std::string why);

  const Invocation& invocation_;
  const SweepOptions& options_;
  const SweepPlan& plan_;
  const SweepFacts& facts_;
  Interrupts& interrupts_;
  experiment::SweepState& state_;
  std::vector<experiment::SweepStep> steps_;
  bool clocks_judged_ = false;
  SweepEnd end_;
};

/// Of one run on the wall, from what was measured; absent: nothing yet.
[[nodiscard]] std::optional<Seconds> wall_of_one_run(
    const std::vector<experiment::SweepMeasurement>& measured, double clock_rate);

}  // namespace rubato::cli
