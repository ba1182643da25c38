// GPOEO's period detector after its published description (docs/iterations.md#gpoeo), as a reference beside
// rubato's own: a trace sampled ten times a second is measured for 25 s, looked at, and extended until the
// estimates over its later parts agree or it gives up.
#pragma once

#include <vector>

#include "progress/gpoeo/stability.h"
#include "progress/telemetry.h"

namespace rubato::progress::gpoeo {

/// Deviations: the highest power so far stands for the power limit, which a trace does not have, and a pause
/// of five seconds without any point begins the measurement anew. After a stable answer the next measurement
/// begins, as in its search; after an unstable one it never looks again, as published.
class GpoeoDetector final : public PeriodDetector {
 public:
  GpoeoDetector();
  [[nodiscard]] std::string_view name() const override { return "gpoeo"; }
  void add(const TelemetryPoint& point) override;
  [[nodiscard]] std::optional<IterationEstimate> estimate() const override { return estimate_; }
  [[nodiscard]] PeriodSummary summary() const override;

 private:
  /// What its sampler would have read now: the latest of each.
  struct Held {
    double power = 0;
    double sm_percent = 0;
    double memory_percent = 0;
  };
  void begin_measurement(TimePoint at, double seconds);
  void sample();
  void look();
  void state(const Judgement& judgement);

  Held held_;
  bool saw_power_ = false;
  bool saw_sm_ = false;
  bool saw_memory_ = false;
  std::optional<TimePoint> begin_;
  TimePoint latest_;
  TimePoint due_;  // of the sampler
  std::vector<Held> samples_;
  std::size_t needed_ = 0;  // samples, until the next look
  double upper_;
  bool first_run_ = true;
  bool gave_up_ = false;
  std::optional<IterationEstimate> estimate_;
  std::vector<double> periods_;  // s, of every stable answer
  PeriodSummary summary_;
  std::size_t pauses_ = 0;
};

}  // namespace rubato::progress::gpoeo
