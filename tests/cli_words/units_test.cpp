#include "cli/words/units.h"

#include <gtest/gtest.h>

namespace rubato::cli {
namespace {

TEST(PlainNumber, IsWhatTheOptionWouldHaveTaken) {
  EXPECT_EQ(plain_number("W", "150W"), "150");
  EXPECT_EQ(plain_number("W", "0.15kW"), "150");
  EXPECT_EQ(plain_number("MHZ", "1.2 GHz"), "1200");
  EXPECT_EQ(plain_number("SECONDS", "2min"), "120");
}

TEST(PlainNumber, IsNoneWhereTheUnitIsOfAnotherKindOrThereIsNoNumber) {
  EXPECT_EQ(plain_number("W", "150MHz"), std::nullopt);
  EXPECT_EQ(plain_number("W", "W"), std::nullopt);
  EXPECT_EQ(plain_number("W", "150"), std::nullopt);
  EXPECT_EQ(plain_number("W", "1.2.3W"), std::nullopt);
  EXPECT_EQ(plain_number("FILE", "150W"), std::nullopt);
}

}  // namespace
}  // namespace rubato::cli
