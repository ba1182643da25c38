#include "conduct/patience.h"

#include <gmock/gmock.h>

#include <csignal>
#include <future>

#include "base/call_count.h"

namespace rubato::conduct {
namespace {

using testing::HasSubstr;

TEST(Patience, WorkThatReturnsGivesItsAnswer) {
  EXPECT_EQ(patiently<int>([] { return 7; }), 7);
}

TEST(Patience, WorkThatStandsStillIsGivenUp) {
  const auto never = std::make_shared<std::promise<void>>();
  EXPECT_FALSE(finishes([stuck = never->get_future().share(), never] { stuck.wait(); }, 0.2_s));
  EXPECT_THAT(stands_still().what, HasSubstr("4.5 s"));
  never->set_value();
}

TEST(Patience, SlowWorkIsWaitedForAsLongAsCallsBegin) {
  // No call comes near the patience; all of them together outlast it.
  const bool done = finishes(
      [] {
        for (int i = 0; i < 12; ++i) {
          note_call();
          std::promise<void> nobody;
          (void)nobody.get_future().wait_for(std::chrono::milliseconds(100));
        }
      },
      0.8_s);
  EXPECT_TRUE(done);
}

TEST(Patience, TheThreadLeftBehindTakesNoSignals) {
  sigset_t inside;
  sigemptyset(&inside);
  ASSERT_TRUE(finishes([&inside] { pthread_sigmask(SIG_SETMASK, nullptr, &inside); }));
  EXPECT_EQ(sigismember(&inside, SIGCHLD), 1);
  EXPECT_EQ(sigismember(&inside, SIGTERM), 1);
  sigset_t outside;
  pthread_sigmask(SIG_SETMASK, nullptr, &outside);
  EXPECT_EQ(sigismember(&outside, SIGCHLD), 0);
}

}  // namespace
}  // namespace rubato::conduct
