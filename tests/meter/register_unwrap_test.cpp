#include "meter/register_unwrap.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rubato::meter {
namespace {

TimePoint at(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

// A register of 1000 J that shows millijoules, on something that draws at most 100 W: full after 10 s at
// least.
RegisterUnwrap small() {
  return RegisterUnwrap(1e-3, 1'000'000, Watts(100));
}

TEST(RegisterUnwrap, CountsFromTheFirstReadingAndAcrossTheTop) {
  auto sum = small();
  EXPECT_EQ(sum.add(900'000, at(0)), RegisterStep::first);
  EXPECT_EQ(sum.total(), 0_J);
  EXPECT_EQ(sum.add(950'000, at(1)), RegisterStep::advanced);
  EXPECT_EQ(sum.total(), 50_J);
  EXPECT_EQ(sum.add(20'000, at(2)), RegisterStep::wrapped);
  EXPECT_EQ(sum.total(), 120_J);
}

TEST(RegisterUnwrap, AFallThatNoWrapExplainsStartsTheSumAnew) {
  auto sum = small();
  sum.add(100'000, at(0));
  sum.add(200'000, at(1));
  // Round the top it would have been 801 J in a second, at 100 W at most.
  EXPECT_EQ(sum.add(1'000, at(2)), RegisterStep::fell);
  EXPECT_EQ(sum.total(), 0_J);
  sum.add(3'000, at(3));
  EXPECT_EQ(sum.total(), 2_J);
}

TEST(RegisterUnwrap, AfterTooLongASilenceTheTurnsCannotBeKnown) {
  auto sum = small();
  sum.add(100'000, at(0));
  EXPECT_EQ(sum.safe_span(), 10_s);
  EXPECT_EQ(sum.add(200'000, at(10)), RegisterStep::gap);
  EXPECT_EQ(sum.total(), 0_J);
}

TEST(RegisterUnwrap, WithoutATopEveryFallIsAFallAndNoSilenceIsTooLong) {
  RegisterUnwrap sum(1e-3, std::nullopt, Watts(100));
  sum.add(1'000, at(0));
  EXPECT_EQ(sum.add(5'000, at(1e6)), RegisterStep::advanced);
  EXPECT_EQ(sum.add(4'999, at(1e6 + 1)), RegisterStep::fell);
}

TEST(RegisterUnwrap, AValueAboveTheTopIsNotUsed) {
  auto sum = small();
  sum.add(100'000, at(0));
  EXPECT_EQ(sum.add(1'000'001, at(1)), RegisterStep::too_high);
  sum.add(150'000, at(2));
  EXPECT_EQ(sum.total(), 50_J);
}

RC_GTEST_PROP(RegisterUnwrap, AnyLoadReadInTimeIsSummedExactly, ()) {
  const std::uint64_t modulus = 1'000'001;  // the top and zero
  const auto steps = *rc::gen::container<std::vector<std::pair<unsigned, unsigned>>>(
      rc::gen::pair(rc::gen::inRange(0U, 100U), rc::gen::inRange(1U, 9'000U)));
  auto sum = small();
  std::uint64_t truth = *rc::gen::inRange<std::uint64_t>(0, modulus);
  const std::uint64_t begin = truth;
  double now = 0;
  std::uint64_t wraps = 0;
  std::uint64_t last = truth;
  sum.add(truth, at(0));
  for (const auto& [watts, milliseconds] : steps) {
    now += milliseconds * 1e-3;
    truth += std::uint64_t{watts} * milliseconds;
    const std::uint64_t shown = truth % modulus;
    const RegisterStep step = sum.add(shown, at(now));
    RC_ASSERT(step == (shown < last ? RegisterStep::wrapped : RegisterStep::advanced));
    wraps += step == RegisterStep::wrapped ? 1 : 0;
    last = shown;
  }
  // Each turn costs at most the register's own last bit.
  const double missing = static_cast<double>(truth - begin) * 1e-3 - sum.total().value();
  RC_ASSERT(missing >= -1e-6);
  RC_ASSERT(missing <= static_cast<double>(wraps) * 1e-3 + 1e-6);
}

}  // namespace
}  // namespace rubato::meter
