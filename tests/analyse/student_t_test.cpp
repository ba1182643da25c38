#include "analyse/student_t.h"

#include <gtest/gtest.h>

namespace rubato::analyse {
namespace {

// Upper critical values as printed in any table of the t distribution (NIST/SEMATECH e-Handbook, 1.3.6.7.2).
TEST(StudentT, AgreesWithThePrintedTable) {
  EXPECT_NEAR(student_t_quantile(0.95, 1), 6.314, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.95, 2), 2.920, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.95, 3), 2.353, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.95, 10), 1.812, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.975, 30), 2.042, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.999, 5), 5.893, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.95, 1e6), 1.645, 5e-4);
}

TEST(StudentT, IsSymmetricAndItsQuantileUndoesItsDistribution) {
  EXPECT_DOUBLE_EQ(student_t_quantile(0.05, 4), -student_t_quantile(0.95, 4));
  EXPECT_EQ(student_t_quantile(0.5, 4), 0.0);
  for (const double degrees : {1.0, 2.5, 7.0, 40.0})
    for (const double p : {0.6, 0.9, 0.99})
      EXPECT_NEAR(student_t_cdf(student_t_quantile(p, degrees), degrees), p, 1e-9);
}

// One degree of freedom is the Cauchy distribution: P(T <= 1) = 3/4.
TEST(StudentT, WithOneDegreeIsCauchy) {
  EXPECT_NEAR(student_t_cdf(1.0, 1), 0.75, 1e-12);
}

}  // namespace
}  // namespace rubato::analyse
