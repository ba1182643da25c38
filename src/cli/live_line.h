// What a person at the terminal is told while the job runs: when the iteration is found, when the job does
// something else, which settings are tried and held, and what came of it so far. A pipe or a file is told
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "conduct/so_far.h"
#include "core/gpu_id.h"
#include "core/shift.h"
#include "progress/arbiter.h"

namespace rubato::cli {

/// "iteration 0.412 s ± 0.3 %, from telemetry, 97 % sure; +0.2 % a minute".
[[nodiscard]] std::string iteration_words(const IterationEstimate& estimate);

/// "iteration 412 at 150 W: 12.3 % ± 0.4 % less energy and 2.1 % ± 0.3 % more time so far (modelled)".
[[nodiscard]] std::string so_far_words(const conduct::SoFar& so_far, std::int64_t iterations,
                                       const Setting& in_force);

class LiveLine {
 public:
  /// `begin`: of the run. Every line goes to `say`, at most `most` of them.
  LiveLine(TimePoint begin, std::function<void(const std::string&)> say, std::size_t most = 40)
      : begin_(begin), say_(std::move(say)), left_(most) {}

  /// What a strategy that chooses the setting sets out to do.
  void begins(const std::string& intent);
  void found(const progress::Ruling& ruling);
  /// Tries, and what is held: of each setting once, as time may be shared between two.
  void decided(const record::Decision& decision);
  /// Told at growing distances: a minute, two, four and so on into the run.
  void so_far(const conduct::SoFar& so_far, std::int64_t iterations, const Setting& in_force);
  void shifted(const GpuId& gpu, const Shift& shift);

 private:
  void say(const std::string& line);

  TimePoint begin_;
  std::function<void(const std::string&)> say_;
  std::size_t left_;
  std::optional<IterationEstimate> told_;
  std::vector<Setting> tried_;  // and told
  std::vector<Setting> held_;
  Seconds next_so_far_{60};
};

}  // namespace rubato::cli
