// Feeds a trace to a detector point by point, and says what its statements are worth.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "period_truth/trace.h"
#include "progress/telemetry.h"

namespace rubato::period_truth {

using MakeDetector =
    std::function<std::unique_ptr<progress::PeriodDetector>(const progress::TelemetryFacts&)>;

enum class Outcome {
  exact,      // the period within 2 %, said to be exact
  multiple,   // said to be a multiple, and it is one: 2 % and 0.15 of an iteration, up to 64 of them
  beat,       // said to be a beat, and it is one, within 2 %
  part,       // of like parts, where the readings do not tell the whole
  epoch,      // from pause to pause, where the readings do not tell the iteration
  aperiodic,  // said to have no period, with the reason
  undecided,
  wrong,
};
[[nodiscard]] std::string_view name_of(Outcome outcome);

inline constexpr double kTolerance = 0.02;
inline constexpr double kSure = 0.9;

/// What a statement is, held against iterations of `period_s`. Never `aperiodic` where it has a period.
[[nodiscard]] Outcome judge(const std::optional<IterationEstimate>& estimate, const Truth& truth,
                            double period_s);

struct Verdict {
  std::uint64_t seed = 0;
  Family family = Family::plain;
  SensorKind sensor = SensorKind::instant;
  bool observable = false;
  std::optional<double> truth_s;
  Outcome outcome = Outcome::undecided;  // of the summary
  bool right = false;                    // by the rules for its family and range
  std::optional<double> confidence;
  std::optional<double> stated_s;
  /// From the first iteration to the first period stated; of aperiodic traces to the first statement.
  std::optional<double> decided_after_s;
  bool first_right = false;     // that first statement, held against the iterations around it
  double sure_and_wrong_s = 0;  // how long a period was stated wrongly with a confidence over 0.9
  double watched_s = 0;         // the whole trace
  double cpu_s = 0;             // of add() and estimate()
  std::size_t points = 0;
  /// Of a miss: by how much an observer who knows more (observer.h) finds the truth likelier, as a logarithm.
  std::optional<double> observed;
  /// What was said is true, if not all that could be said: a multiple of an observable iteration is.
  [[nodiscard]] bool holds() const {
    return outcome != Outcome::wrong && !(outcome == Outcome::aperiodic && observable);
  }
  [[nodiscard]] bool sure_and_wrong() const { return !holds() && confidence.value_or(0) > kSure; }
  /// Decision time over max(6 iterations, 8 s).
  [[nodiscard]] std::optional<double> decision_ratio() const;
};

[[nodiscard]] Verdict run_detector(const Trace& trace, const MakeDetector& make);

}  // namespace rubato::period_truth
