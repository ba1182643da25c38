#include "predict/combined/likeness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "predict/shared_curve/made_curves.h"

namespace rubato::predict::combined {
namespace {

/// One workload a group; their default powers are 5 % apart.
std::vector<Curve> ladder() {
  std::vector<Curve> out;
  for (int i = 0; i < 8; ++i)
    out.push_back(made::curve(cat("g", i), cat("w", i), 0.5, 200 * std::pow(1.05, i)));
  return out;
}

TEST(Likeness, CountsDistanceInThatOfOtherGroups) {
  const Likeness likeness(ladder());
  const auto unlike = [&](double watts) { return likeness.unlike(made::curve("n", "n", 0.5, watts).known); };
  EXPECT_EQ(unlike(200), 0);
  EXPECT_EQ(unlike(200 * std::pow(1.05, 0.5)), 0);
  EXPECT_NEAR(unlike(200 * std::pow(1.05, -1.5)), 0.5, 1e-6);
  EXPECT_EQ(unlike(100), 1);
}

TEST(Likeness, AMissingFeatureIsUnlikeAndAFurtherOneIsNot) {
  std::vector<Curve> curves = ladder();
  for (std::size_t i = 0; i < curves.size(); ++i)
    curves[i].known.features = {{"dram_active", 0.1 * static_cast<double>(i)}};
  const Likeness likeness(curves);
  Known known = curves[3].known;
  known.features["sm_active"] = 1;
  EXPECT_EQ(likeness.unlike(known), 0);
  known.features.erase("dram_active");
  EXPECT_EQ(likeness.unlike(known), 1);
}

TEST(Likeness, NothingIsUnlikeWhereThereIsOneGroup) {
  const std::vector<Curve> curves = {made::curve("g", "a", 1.0, 250), made::curve("g", "b", 0.5, 260)};
  EXPECT_EQ(Likeness(curves).unlike(made::curve("n", "n", 0.5, 100).known), 0);
  EXPECT_EQ(Likeness().unlike(curves.front().known), 0);
}

TEST(Likeness, ReadsBackAndRefusesOtherSizes) {
  const Likeness likeness(ladder());
  const Known known = made::curve("n", "n", 0.5, 200 * std::pow(1.05, -1.5)).known;
  const auto again = Likeness::read(likeness.state());
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->unlike(known), likeness.unlike(known));
  const auto none = Likeness::read(Likeness().state());
  ASSERT_TRUE(none) << none.error().what;
  EXPECT_EQ(none->unlike(known), 0);
  nlohmann::json state = likeness.state();
  state["features"].push_back("dram_active");
  EXPECT_FALSE(Likeness::read(state));
  state.erase("mean");
  EXPECT_FALSE(Likeness::read(state));
}

}  // namespace
}  // namespace rubato::predict::combined
