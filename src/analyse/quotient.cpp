#include "analyse/quotient.h"

#include <cmath>

#include "analyse/student_t.h"
#include "base/text.h"

namespace rubato::analyse {

std::optional<double> log_error(const Mean& above, const Mean& below) {
  if (!above.relative_error || !below.relative_error) return std::nullopt;
  return std::hypot(*above.relative_error, *below.relative_error);
}

// Relative errors of a quotient add in squares; the degrees of freedom of that sum are Welch's (Biometrika
// 34, 1947), and the interval is symmetric in the logarithm, as for any quotient.
Estimate quotient(const NamedMean& above, const NamedMean& below) {
  Estimate ratio{.value = above.mean.value / below.mean.value};
  const auto error = log_error(above.mean, below.mean);
  if (!error) {
    const NamedMean& lacking = below.mean.relative_error ? above : below;
    ratio.why_no_interval = cat("at ", lacking.where, " ", lacking.mean.why_no_error);
    return ratio;
  }
  double half = 0.0;
  if (*error > 0) {
    const double a = std::pow(*above.mean.relative_error, 2);
    const double b = std::pow(*below.mean.relative_error, 2);
    const double degrees = (a + b) * (a + b) / (a * a / above.mean.degrees + b * b / below.mean.degrees);
    half = student_t_quantile(0.5 + kConfidence / 2, degrees) * *error;
  }
  ratio.interval = Interval{ratio.value * std::exp(-half), ratio.value * std::exp(half)};
  return ratio;
}

}  // namespace rubato::analyse
