// The last minutes of every GPU and run, one moment a second, so that a page that is opened begins with a
// picture and not with a dot.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "exporter/page.h"
#include "record/run_state.h"

namespace rubato::exporter {

class History {
 public:
  static constexpr Seconds kLength{900.0};

  /// `unix_s`: the moment, seconds since 1970. What a GPU that is silent said last is no figure of now.
  void add(double unix_s, const PageState& state, TimePoint now, const std::vector<record::RunState>& runs);

  /// rubato.dashboard_history/1 (docs/formats.md), on one line. From any thread.
  [[nodiscard]] std::string json() const;

 private:
  struct OfGpu {
    std::string uuid;
    std::optional<Watts> power, enforced, requested;
    std::optional<Megahertz> sm_clock, memory_clock;
    std::optional<Celsius> temperature;
    std::optional<double> sm_utilisation;
  };
  struct OfRun {
    std::string run_id;
    std::string doing;
    std::optional<Seconds> iteration;
  };
  struct Moment {
    double unix_s = 0;
    std::vector<OfGpu> gpus;
    std::vector<OfRun> runs;
  };

  mutable std::mutex mutex_;
  std::deque<Moment> moments_;
};

}  // namespace rubato::exporter
