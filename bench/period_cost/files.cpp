#include "files.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "base/text.h"
#include "core/telemetry_csv.h"
#include "progress/detectors.h"

namespace rubato::bench {
namespace {

constexpr int kRepeats = 5;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Pass {
  progress::PeriodSummary summary;
  std::optional<double> to_decision;  // processor seconds
  double whole = 0;
};

Pass pass_over(const progress::DetectorKind& kind, const std::vector<TelemetryRow>& rows) {
  const auto detector = kind.make({});
  Pass pass;
  const double begin = processor_seconds();
  for (const TelemetryRow& row : rows) {
    detector->add({row.at, row.power, row.sm_utilisation, row.memory_utilisation, row.sm_clock});
    if (!pass.to_decision && detector->estimate()) pass.to_decision = processor_seconds() - begin;
  }
  pass.whole = processor_seconds() - begin;
  pass.summary = detector->summary();
  return pass;
}

template <class T>
std::string or_dash(const std::optional<T>& value) {
  if (!value) return "-";
  if constexpr (std::is_same_v<T, Seconds>)
    return number(value->value());
  else
    return number(*value);
}

}  // namespace

int run_files(std::span<const std::string> files) {
  for (const std::string& file : files) {
    const auto trace = read_telemetry(file);
    if (!trace) {
      std::fprintf(stderr, "%s\n", trace.error().what.c_str());
      return 1;
    }
    for (const progress::DetectorKind& kind : progress::detectors()) {
      // The quickest of several: others disturb a pass, nothing speeds it up.
      Pass best = pass_over(kind, trace->rows);
      for (int i = 1; i < kRepeats; ++i) {
        const Pass pass = pass_over(kind, trace->rows);
        best.whole = std::min(best.whole, pass.whole);
        if (best.to_decision) best.to_decision = std::min(*best.to_decision, *pass.to_decision);
      }
      const auto& verdict = best.summary.verdict;
      const char* const answer = !verdict ? "undecided" : best.summary.first ? "periodic" : "aperiodic";
      std::printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", file.c_str(), std::string(kind.name).c_str(), answer,
                  or_dash(best.summary.first).c_str(), or_dash(best.summary.decided_after).c_str(),
                  or_dash(best.to_decision).c_str(), number(best.whole).c_str());
    }
  }
  return 0;
}

}  // namespace rubato::bench
