// Quantiles of Student's t distribution, for confidence intervals from few observations.
#pragma once

namespace rubato::analyse {

/// P(T <= t) for `degrees` > 0 degrees of freedom, which need not be whole.
[[nodiscard]] double student_t_cdf(double t, double degrees);

/// The t with P(T <= t) = probability; 0 < probability < 1.
[[nodiscard]] double student_t_quantile(double probability, double degrees);

}  // namespace rubato::analyse
