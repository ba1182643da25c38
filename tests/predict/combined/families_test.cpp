#include "predict/combined/families.h"

#include <gtest/gtest.h>

#include <set>

#include "predict/shared_curve/made_curves.h"

namespace rubato::predict::combined {
namespace {

std::set<std::string> groups_of(const std::vector<Curve>& curves) {
  std::set<std::string> out;
  for (const Curve& c : curves) out.insert(c.group);
  return out;
}

TEST(Families, GroupsThatHoldTheSameWorkloadsAreOne) {
  std::vector<Curve> curves = made::population();
  for (int w = 0; w < 4; ++w) {
    Curve twin = curves[static_cast<std::size_t>(w)];
    twin.group = "again";
    for (Observed& row : twin.rows) row.time *= 1.002;
    twin.known.at_default.time *= 1.002;
    curves.push_back(std::move(twin));
  }
  ASSERT_EQ(groups_of(curves).size(), 6U);
  const auto merged = by_family(curves);
  ASSERT_EQ(merged.size(), curves.size());
  EXPECT_EQ(groups_of(merged).size(), 5U);
  EXPECT_EQ(merged.back().group, merged.front().group);
}

TEST(Families, AFewTwinsMakeNoFamily) {
  std::vector<Curve> curves = made::population();
  for (const std::size_t i : {0U, 1U}) {
    curves[4 + i].known = curves[i].known;
    curves[4 + i].rows = curves[i].rows;  // two of the second group's four are two of the first's
  }
  EXPECT_EQ(groups_of(by_family(curves)), groups_of(curves));
}

TEST(Families, DefaultsThatDifferMakeNoTwins) {
  std::vector<Curve> curves = made::population();
  for (int w = 0; w < 4; ++w) {
    Curve twin = curves[static_cast<std::size_t>(w)];
    twin.group = "again";
    for (Observed& row : twin.rows) row.energy *= 2;  // the same ratios at another power
    twin.known.at_default.energy *= 2;
    curves.push_back(std::move(twin));
  }
  EXPECT_EQ(groups_of(by_family(curves)).size(), 6U);
}

TEST(Families, StayApartWhereTooFewWouldBeLeft) {
  const std::vector<Curve> curves = {made::curve("a", "a", 0.5, 200), made::curve("b", "b", 0.5, 200),
                                     made::curve("c", "c", 0.1, 300)};
  EXPECT_EQ(groups_of(by_family(curves)).size(), 3U);
  EXPECT_TRUE(by_family({}).empty());
}

}  // namespace
}  // namespace rubato::predict::combined
