#include "base/text.h"

#include <gtest/gtest.h>

namespace rubato {
namespace {

TEST(Cat, PutsUnitsBehindQuantities) {
  EXPECT_EQ(cat("cannot set ", 250_W, ": the range is ", 100_W, " to ", Watts(300.5)),
            "cannot set 250 W: the range is 100 W to 300.5 W");
  EXPECT_EQ(cat(1005_MHz, " for ", 0.25_s), "1005 MHz for 0.25 s");
}

TEST(Number, DropsZerosButNotDigits) {
  EXPECT_EQ(number(100.0, 1), "100");
  EXPECT_EQ(number(99.96, 1), "100");
  EXPECT_EQ(number(-0.0001, 2), "0");
  EXPECT_EQ(number(0.1), "0.1");
}

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number("150"), 150.0);
  EXPECT_EQ(parse_number("150W"), std::nullopt);
  EXPECT_EQ(parse_number(""), std::nullopt);
  EXPECT_EQ(parse_integer("-3"), -3);
  EXPECT_EQ(parse_hex("ff"), 255U);
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(trim("  x \n"), "x");
}

}  // namespace
}  // namespace rubato
