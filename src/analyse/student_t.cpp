#include "analyse/student_t.h"

#include <cmath>
#include <limits>

namespace rubato::analyse {
namespace {

// Continued fraction of the incomplete beta function, DLMF 8.17.22, evaluated with the modified Lentz method
// (Thompson and Barnett, J. Comput. Phys. 64, 1986).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 10'000;
  const auto guarded = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double value = 1.0;
  double c = 1.0;
  double d = 0.0;
  for (int n = 1; n < kMostTerms; ++n) {
    const int m = n / 2;
    const double term = n % 2 == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                   : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1.0 / guarded(1.0 + term * d);
    c = guarded(1.0 + term / c);
    value *= c * d;
    if (std::abs(c * d - 1.0) < 4 * std::numeric_limits<double>::epsilon()) break;
  }
  return 1.0 / value;
}

// I_x(a, b), DLMF 8.17.
double regularised_beta(double a, double b, double x) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  // The fraction converges fast on this side only; the other follows from I_x(a,b) = 1 - I_{1-x}(b,a).
  if (x > (a + 1) / (a + b + 2)) return 1.0 - regularised_beta(b, a, 1.0 - x);
  const double log_front =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  return std::exp(log_front) / a * beta_fraction(a, b, x);
}

}  // namespace

double student_t_cdf(double t, double degrees) {
  const double tail = 0.5 * regularised_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
  return t > 0 ? 1.0 - tail : tail;
}

double student_t_quantile(double probability, double degrees) {
  if (probability == 0.5) return 0.0;
  if (probability < 0.5) return -student_t_quantile(1.0 - probability, degrees);
  double low = 0.0;
  double high = 1.0;
  while (student_t_cdf(high, degrees) < probability && high < 1e12) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (student_t_cdf(middle, degrees) < probability ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace rubato::analyse
