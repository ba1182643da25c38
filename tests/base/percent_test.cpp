#include "base/percent.h"

#include <gtest/gtest.h>

namespace rubato {
namespace {

TEST(Percent, AsMeasuredHasTheDigitsThatLineUp) {
  EXPECT_EQ(percent(0.2142), "21.4 %");
  EXPECT_EQ(percent(0.05), "5.0 %");
  EXPECT_EQ(percent(0.00321), "0.32 %");
  EXPECT_EQ(percent(-0.071), "-7.1 %");
  EXPECT_EQ(percent(0), "0.0 %");
  EXPECT_EQ(percent(-0.00001), "0.00 %") << "a rounded nothing has no sign";
}

TEST(Percent, AsAskedForHasNoZerosAtTheEnd) {
  EXPECT_EQ(short_percent(0.05), "5 %");
  EXPECT_EQ(short_percent(0.0228), "2.3 %");
  EXPECT_EQ(short_percent(0.0225, 2), "2.25 %");
  EXPECT_EQ(short_percent(0.976, 0), "98 %");
  EXPECT_EQ(short_percent(-0.0001), "0 %");
}

TEST(Percent, AShareIsReadInPercentOrAsAFraction) {
  EXPECT_EQ(parse_share("5%"), 0.05);
  EXPECT_EQ(parse_share("5 %"), 0.05);
  EXPECT_EQ(parse_share("0.05"), 0.05);
  EXPECT_EQ(parse_share("0"), 0);
  EXPECT_EQ(parse_share("100%"), 1);
  EXPECT_EQ(parse_share("20%", 0.2), 0.2);
  for (const char* bad : {"", "%", "five", "-5%", "101%", "1.5", "5%%", "nan", "1", "1.0"})
    EXPECT_FALSE(parse_share(bad)) << bad;
  EXPECT_FALSE(parse_share("21%", 0.2));
}

}  // namespace
}  // namespace rubato
