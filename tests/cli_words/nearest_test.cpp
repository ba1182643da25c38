#include "cli/words/nearest.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace rubato::cli {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsChangesAndSwaps) {
  EXPECT_EQ(edit_distance("show", "show"), 0U);
  EXPECT_EQ(edit_distance("shwo", "show"), 1U);
  EXPECT_EQ(edit_distance("shw", "show"), 1U);
  EXPECT_EQ(edit_distance("shoow", "show"), 1U);
  EXPECT_EQ(edit_distance("snow", "show"), 1U);
  EXPECT_EQ(edit_distance("", "show"), 4U);
}

TEST(EditDistance, IsTheSameBothWaysAndNeverMoreThanTheLongerWord) {
  EXPECT_TRUE(rc::check([](const std::string& a, const std::string& b) {
    RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
    RC_ASSERT(edit_distance(a, b) <= std::max(a.size(), b.size()));
    RC_ASSERT((edit_distance(a, b) == 0) == (a == b));
  }));
}

TEST(Nearest, IsTheWordFewestEditsAwayOrTheOnlyOneBegunLikeThat) {
  EXPECT_EQ(nearest("mesure", {"run", "measure", "restore"}), "measure");
  EXPECT_EQ(nearest("meas", {"run", "measure", "restore"}), "measure");
  EXPECT_EQ(nearest("r", {"run", "measure", "restore"}), std::nullopt) << "two begin with it";
  EXPECT_EQ(nearest("--", {"--gpu"}), std::nullopt);
  EXPECT_EQ(nearest("python", {"run", "measure", "restore"}), std::nullopt);
}

}  // namespace
}  // namespace rubato::cli
