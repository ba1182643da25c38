// A driver that hangs under one GPU of a lease, or is slow: the others go on, and the client hears of it.
#include <gmock/gmock.h>

#include "daemon/daemon_world.h"

namespace rubato::daemon {
namespace {

using fake::DaemonWorld;
using fake::is;
using fake::kGpu;
using fake::kOneGpu;
using fake::kOther;
using fake::kTwoGpus;
using fake::limit_to;
using fake::words;
using guard::fake::refusal;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Hangs, AGpuWhoseDriverHangsHoldsUpNoOther) {
  DaemonWorld daemon;
  const auto stuck = daemon.connect(1000);
  const auto other = daemon.connect(1001);
  (void)daemon.ask(stuck, kOneGpu);
  (void)daemon.ask(other, wire::Acquire{{kOther}, {Knob::power_limit}, {}});
  daemon.owner(0).hangs = true;
  daemon.send(stuck, limit_to(150));
  EXPECT_TRUE(is<wire::Applied>(daemon.ask(other, wire::Apply{kOther, {.power_limit = 150_W}})));
  daemon.disconnect(stuck);
  EXPECT_TRUE(is<wire::Restored>(daemon.ask(other, wire::Release{})));
  EXPECT_FALSE(daemon.core().idle()) << "what hangs is still to be put back";
  daemon.owner(0).hangs = false;
  daemon.settle();
  EXPECT_TRUE(daemon.core().idle());
  EXPECT_TRUE(daemon.as_found());
}

/// One that set the first GPU, hangs in setting the second, and dies.
void die_hanging_on_the_other(DaemonWorld& daemon) {
  const auto client = daemon.connect();
  (void)daemon.ask(client, kTwoGpus);
  (void)daemon.ask(client, limit_to(150));
  daemon.owner(1).hangs = true;
  daemon.send(client, wire::Apply{kOther, {.power_limit = 150_W}});
  daemon.disconnect(client);
}

TEST(Hangs, AGpuThatHangsKeepsNoOtherOfItsLeaseFromTheNextOne) {
  DaemonWorld daemon;
  die_hanging_on_the_other(daemon);
  EXPECT_EQ(daemon.world.gpu().requested, 200);
  const auto next = daemon.connect(1001);
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(next, kOneGpu)));
  EXPECT_EQ(refusal(daemon.ask(daemon.connect(1001), wire::Acquire{{kOther}, {Knob::power_limit}, {}})),
            ErrorCode::busy);
  daemon.owner(1).hangs = false;
  daemon.settle();
  EXPECT_TRUE(daemon.as_found());
  (void)daemon.ask(next, wire::Release{});
  EXPECT_TRUE(daemon.core().idle());
}

TEST(Hangs, AGpuThatHangsKeepsNoOtherOfItsLeaseFromBeingRestoredAgain) {
  DaemonWorld daemon;
  daemon.world.gpu().quietly_at_least = 210;  // the driver takes 200 W and sets this
  die_hanging_on_the_other(daemon);
  EXPECT_EQ(daemon.world.gpu().requested, 210);
  EXPECT_FALSE(daemon.core().all_back());
  daemon.world.gpu().quietly_at_least = 0;
  daemon.pass(2_s);
  EXPECT_EQ(daemon.world.gpu().requested, 200);
  EXPECT_TRUE(daemon.core().all_back());
}

TEST(Hangs, ALeaseThatEndsWhileAGpuHangsInBeingTakenFreesTheOthers) {
  DaemonWorld daemon;
  daemon.owner(1).hangs = true;
  const auto client = daemon.connect(1000);
  daemon.send(client, kTwoGpus);
  daemon.settle();
  EXPECT_EQ(refusal(daemon.ask(daemon.connect(1001), kOneGpu)), ErrorCode::busy);
  daemon.disconnect(client);
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(daemon.connect(1001), kOneGpu)));
  daemon.owner(1).hangs = false;
  daemon.settle();
  EXPECT_FALSE(std::filesystem::exists(daemon.world.journal(kOther)));
  EXPECT_TRUE(
      is<wire::Granted>(daemon.ask(daemon.connect(1001), wire::Acquire{{kOther}, {Knob::sm_clock}, {}})));
}

TEST(Hangs, AGpuThatCannotBeTakenFreesTheOthersThoughOneHangs) {
  DaemonWorld daemon;
  daemon.put_process(500, 77);
  daemon.world.gpus[kOther].process = 500;
  daemon.owner(0).hangs = true;
  const auto client = daemon.connect();
  daemon.send(client, kTwoGpus);
  daemon.settle();
  daemon.world.gpus[kOther].process = 0;
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(daemon.connect(), wire::Acquire{{kOther}, {Knob::sm_clock}, {}})));
  daemon.owner(0).hangs = false;
  daemon.settle();
  EXPECT_EQ(refusal(daemon.heard(client).back().body), ErrorCode::no_permission);
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(client, kOneGpu)));
}

TEST(Hangs, NobodyIsLetInToWaitForAGpuWhoseDriverHangsBeforeAnyLease) {
  DaemonWorld daemon;
  const auto client = daemon.connect();
  (void)daemon.ask(client, kOneGpu);
  (void)daemon.ask(client, limit_to(150));
  daemon.world.gpu().quietly_at_least = 210;
  (void)daemon.ask(client, wire::Release{});
  daemon.owner(0).hangs = true;
  daemon.world.gpu().quietly_at_least = 0;
  daemon.pass(2_s);  // it is asked for again, and hangs in that
  const auto told = [&] {
    return std::get<wire::StatusReply>(daemon.ask(client, wire::StatusRequest{})).gpus.at(0).why_not;
  };
  for (int i = 0; i < 4; ++i) {
    daemon.wall->advance(4_s);
    daemon.owner(0).slow_call();
    daemon.step();
    EXPECT_THAT(told(), ::testing::Not(HasSubstr("does not answer"))) << "it is only slow";
  }
  daemon.wall->advance(5_s);
  daemon.step();
  EXPECT_THAT(told(), HasSubstr("does not answer"));
  EXPECT_EQ(refusal(daemon.ask(client, kTwoGpus)), ErrorCode::unavailable);
  daemon.owner(0).hangs = false;
  daemon.settle();
  EXPECT_TRUE(daemon.as_found());
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(client, kTwoGpus)));
}

TEST(Hangs, SignsOfLifeAreGivenWhileADriverIsSlowAndNotWhereItHangs) {
  DaemonWorld daemon;
  const auto client = daemon.connect();
  (void)daemon.ask(client, kOneGpu);
  daemon.owner(0).hangs = true;
  daemon.send(client, limit_to(150));
  daemon.core().give_signs_of_life();
  daemon.deliver();
  const auto before = daemon.heard(client).size();
  daemon.core().give_signs_of_life();
  daemon.deliver();
  EXPECT_EQ(daemon.heard(client).size(), before) << "no call has begun since";
  daemon.owner(0).slow_call();
  daemon.core().give_signs_of_life();
  daemon.deliver();
  ASSERT_EQ(daemon.heard(client).size(), before + 1);
  EXPECT_TRUE(is<wire::Heartbeat>(daemon.heard(client).back().body));
}

TEST(Hangs, SignsOfLifeAreThoseOfTheGpuThatIsWaitedFor) {
  DaemonWorld daemon;
  const auto first = daemon.connect(1000);
  (void)daemon.ask(first, kTwoGpus);
  daemon.owner(1).hangs = true;
  daemon.send(first, wire::Release{});
  daemon.settle();
  const auto second = daemon.connect(1001);
  (void)daemon.ask(second, kOneGpu);
  daemon.core().give_signs_of_life();
  daemon.deliver();
  const auto before = daemon.heard(first).size();
  daemon.owner(0).hangs = true;
  daemon.send(second, limit_to(150));
  daemon.owner(0).slow_call();
  daemon.core().give_signs_of_life();
  daemon.deliver();
  EXPECT_EQ(daemon.heard(first).size(), before) << "its GPU hangs, whatever the second does with the other";
  EXPECT_TRUE(is<wire::Heartbeat>(daemon.heard(second).back().body));
}

}  // namespace
}  // namespace rubato::daemon
