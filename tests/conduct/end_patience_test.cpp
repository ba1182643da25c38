#include "conduct/end_patience.h"

#include <gtest/gtest.h>

namespace rubato::conduct {
namespace {

using Verdict = EndPatience::Verdict;
constexpr TimePoint kEnd{1'000'000'000};

TEST(EndPatience, ADriverCallThatDoesNotComeBackIsGivenUp) {
  EndPatience patience(kEnd, 7);
  EXPECT_EQ(patience.look(kEnd + 4.4_s, 7, false), Verdict::wait);
  EXPECT_EQ(patience.look(kEnd + 4.5_s, 7, false), Verdict::driver_hangs);
}

TEST(EndPatience, ADriverThatIsOnlySlowIsWaitedForAsLongAsCallsBegin) {
  EndPatience patience(kEnd, 7);
  for (std::uint64_t call = 1; call <= 8; ++call)
    EXPECT_EQ(patience.look(kEnd + 3_s * static_cast<double>(call), 7 + call, false), Verdict::wait);
  EXPECT_EQ(patience.look(kEnd + 28.4_s, 15, false), Verdict::wait);
  EXPECT_EQ(patience.look(kEnd + 28.5_s, 15, false), Verdict::driver_hangs);
}

TEST(EndPatience, ASlowDiskIsToldOfOnceAndWaitedForLonger) {
  EndPatience patience(kEnd, 7);
  EXPECT_EQ(patience.look(kEnd + 1_s, 7, false), Verdict::wait);
  EXPECT_EQ(patience.look(kEnd + 5.4_s, 7, true), Verdict::wait);
  EXPECT_EQ(patience.look(kEnd + 5.5_s, 7, true), Verdict::disk_is_slow);
  EXPECT_EQ(patience.look(kEnd + 60.9_s, 7, true), Verdict::wait);
  EXPECT_EQ(patience.look(kEnd + 61_s, 7, true), Verdict::disk_hangs);
}

TEST(EndPatience, AfterTheDiskADriverHasItsWholePatience) {
  EndPatience patience(kEnd, 7);
  EXPECT_EQ(patience.look(kEnd + 4_s, 7, true), Verdict::wait);
  EXPECT_EQ(patience.look(kEnd + 8.4_s, 7, false), Verdict::wait);
  EXPECT_EQ(patience.look(kEnd + 8.5_s, 7, false), Verdict::driver_hangs);
}

}  // namespace
}  // namespace rubato::conduct
