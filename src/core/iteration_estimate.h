// What is known of the job's iteration at one moment, whoever found it: how long it is, how sure that is, and
// what stands in where there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "core/iteration.h"

namespace rubato {

/// What the stated period is to the iteration. A sensor slower than the iteration shows a multiple of it, or
/// the beat between the two.
enum class PeriodRelation { exact, multiple, beat };

[[nodiscard]] std::string_view name_of(ProgressSource source);
[[nodiscard]] std::string_view name_of(PeriodRelation relation);
[[nodiscard]] Result<ProgressSource> parse_progress_source(std::string_view name);
[[nodiscard]] Result<PeriodRelation> parse_period_relation(std::string_view name);

struct IterationEstimate {
  TimePoint at;  // when it was stated
  ProgressSource source = ProgressSource::telemetry;
  bool periodic = false;          // false: the evidence says that there is no period
  std::optional<Seconds> period;  // present where periodic
  PeriodRelation relation = PeriodRelation::exact;
  double confidence = 0;  // chance that the statement holds: the period within 2 %, or that there is none
  std::optional<double> half_width;        // 95 %, as a fraction of the period
  std::optional<double> drift_per_minute;  // relative change of the period
  std::optional<std::uint64_t> launches;   // kernel launches in one iteration, where kernels tell
  std::string why;                         // one sentence for a person
};

/// What progress is counted in where there are no iterations.
enum class RateKind { instructions, kernels, busy_time };

[[nodiscard]] std::string_view name_of(RateKind kind);

struct ProgressRate {
  TimePoint begin;
  TimePoint end;
  RateKind kind = RateKind::busy_time;
  double per_second = 0;             // instructions, kernels, or seconds of work per second
  std::optional<double> half_width;  // 95 %, as a fraction
  double confidence = 0;             // chance that it follows the job's true progress within its half width
  std::string why;
};

}  // namespace rubato
