#include "progress/period/own_level.h"

#include <algorithm>
#include <cmath>

namespace rubato::progress {

Series own_level(const Samples& samples, const Judged& judged, const Span& span) {
  const Series& coarse = judged.band->readings;
  const double period = judged.candidate.period_s;
  const double step = period / std::ceil(std::min(period / span.reading_s, 64.0));
  Series out =
      resample(samples, coarse.begin_s, coarse.begin_s + static_cast<double>(coarse.size) * coarse.step_s,
               step, coarse.which);
  scale(out, judged.band->factors);
  if (period >= kFine * span.update_s) out = smooth(out, period / kDetail);
  return high_pass(out, 2 * period);
}

}  // namespace rubato::progress
