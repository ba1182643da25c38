// What a part-time power sensor may miss, between its looks and because it is in step with the job's
// iterations: the same terms that src/measure has in the band of the run, for any stretch of it.
#pragma once

#include <memory>
#include <vector>

#include "analyse/series_view.h"
#include "analyse/step_times.h"
#include "core/beat.h"
#include "core/capability.h"

namespace rubato::analyse {

class BeatBand {
 public:
  /// Without steps there is no beat; where the sensor sees all of the time, nothing is missed.
  BeatBand(const SeriesView& series, const SensorFacts& sensor, std::shared_ptr<const StepTimes> steps);

  /// Half widths, 95 %; by the steps that were known at the end of the stretch.
  [[nodiscard]] Joules of_beat(TimePoint from, TimePoint to) const;
  /// As far as the power readings tell; a counter of such a board is taken to see no more than they do.
  [[nodiscard]] Joules of_looks(TimePoint from, TimePoint to) const;

 private:
  struct Sum {
    TimePoint at;
    double seconds = 0;  // all up to there
    double joules = 0;
    double squares = 0;  // W² s
    double moved = 0;    // J², of what two neighbours differ by
  };
  [[nodiscard]] Sum at(TimePoint t) const;

  std::shared_ptr<const StepTimes> steps_;
  SensorSight sight_;
  std::vector<Sum> sums_;  // a point for each power reading; empty where no beat can be
};

}  // namespace rubato::analyse
