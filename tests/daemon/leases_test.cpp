// How leases begin, live and end, and what comes back whatever happens to the client, the GPU or rubatod.
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

TEST(Leases, ALeaseIsGrantedSetsAndIsReleasedToTheFoundStateAndEveryDecisionIsInTheLog) {
  DaemonWorld daemon;
  const auto client = daemon.connect();
  const auto granted = daemon.ask(client, kOneGpu);
  ASSERT_TRUE(is<wire::Granted>(granted)) << words(granted);
  EXPECT_EQ(std::get<wire::Granted>(granted).found.at(0).limits.requested, 200_W);
  EXPECT_EQ(daemon.world.gpu().writes, 0);
  ASSERT_TRUE(is<wire::Applied>(daemon.ask(client, limit_to(150))));
  EXPECT_EQ(daemon.world.gpu().requested, 150);
  ASSERT_TRUE(is<wire::Restored>(daemon.ask(client, wire::Restore{kGpu})));
  EXPECT_EQ(daemon.world.gpu().requested, 200);
  ASSERT_TRUE(is<wire::Applied>(daemon.ask(client, limit_to(120))));
  const auto restored = daemon.ask(client, wire::Release{});
  ASSERT_TRUE(is<wire::Restored>(restored));
  EXPECT_EQ(std::get<wire::Restored>(restored).reports.at(0).outcome, Restoration::restored);
  EXPECT_TRUE(daemon.as_found());
  EXPECT_FALSE(std::filesystem::exists(daemon.world.journal()));
  EXPECT_THAT(daemon.log(), ElementsAre("lease granted", "set done", "restore done", "set done", "end done"));
}

TEST(Leases, AskedAgainAfterAReleaseItGrantsAgain) {
  DaemonWorld daemon;
  const auto client = daemon.connect();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(is<wire::Granted>(daemon.ask(client, kTwoGpus)));
    ASSERT_TRUE(is<wire::Applied>(daemon.ask(client, limit_to(150))));
    ASSERT_TRUE(is<wire::Restored>(daemon.ask(client, wire::Release{})));
    EXPECT_TRUE(daemon.as_found());
  }
}

TEST(Leases, SilenceEndsALeaseAndHeartbeatsKeepIt) {
  DaemonWorld daemon;
  const auto client = daemon.connect();
  (void)daemon.ask(client, kOneGpu);
  (void)daemon.ask(client, limit_to(150));
  daemon.pass(60_s, {client});
  EXPECT_EQ(daemon.world.gpu().requested, 150);
  daemon.pass(4_s);
  EXPECT_EQ(daemon.world.gpu().requested, 150);
  daemon.pass(2_s);
  EXPECT_TRUE(daemon.as_found());
  EXPECT_EQ(refusal(daemon.ask(client, limit_to(140))), ErrorCode::timeout)
      << "so that a client takes it anew";
  const auto told = daemon.ask(client, wire::Release{});
  ASSERT_TRUE(is<wire::Restored>(told)) << words(told);
  EXPECT_EQ(std::get<wire::Restored>(told).reports.at(0).outcome, Restoration::restored);
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(client, kOneGpu)));
}

TEST(Leases, AClientThatIsGoneLosesItsLeaseAtAnyMoment) {
  DaemonWorld daemon;
  for (int requests = 0; requests < 4; ++requests) {
    const auto client = daemon.connect();
    if (requests == 1) daemon.send(client, kOneGpu);  // is not answered yet
    if (requests > 1) (void)daemon.ask(client, kOneGpu);
    if (requests == 2) (void)daemon.ask(client, limit_to(150));
    if (requests == 3) daemon.send(client, limit_to(150));  // the driver is at it
    daemon.disconnect(client);
    EXPECT_TRUE(daemon.as_found()) << requests;
    EXPECT_TRUE(daemon.core().idle()) << requests;
    EXPECT_FALSE(std::filesystem::exists(daemon.world.journal())) << requests;
  }
}

TEST(Leases, AGpuIsLeasedOnceAndAllOfALeaseOrNone) {
  DaemonWorld daemon;
  const auto first = daemon.connect(1000);
  const auto second = daemon.connect(1001);
  ASSERT_TRUE(is<wire::Granted>(daemon.ask(first, wire::Acquire{{kOther}, {Knob::power_limit}, {}})));
  EXPECT_EQ(refusal(daemon.ask(second, kTwoGpus)), ErrorCode::busy);
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(second, kOneGpu))) << "nothing of the refused lease is held";
  (void)daemon.ask(first, wire::Release{});
  (void)daemon.ask(second, wire::Release{});
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(second, kTwoGpus)));
}

TEST(Leases, OneGpuThatCannotBeTakenGivesBackTheOthers) {
  DaemonWorld daemon;
  daemon.put_process(500, 77);
  daemon.world.gpus[kOther].process = 500;
  const auto client = daemon.connect();
  const auto refused = daemon.ask(client, kTwoGpus);
  EXPECT_EQ(refusal(refused), ErrorCode::no_permission);
  EXPECT_THAT(words(refused), HasSubstr("process 500 of user 77"));
  EXPECT_FALSE(std::filesystem::exists(daemon.world.journal()));
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(client, kOneGpu)));
}

TEST(Leases, SomebodyElsesProcessOnTheGpuEndsTheLease) {
  DaemonWorld daemon;
  const auto client = daemon.connect(1000);
  daemon.put_process(501, 1000);
  daemon.world.gpu().process = 501;
  (void)daemon.ask(client, kOneGpu);
  (void)daemon.ask(client, limit_to(150));
  daemon.pass(3_s, {client});
  EXPECT_EQ(daemon.world.gpu().requested, 150) << "their own";
  daemon.put_process(502, 1001);
  daemon.world.gpu().process = 502;
  daemon.pass(2_s, {client});
  EXPECT_TRUE(daemon.as_found());
  EXPECT_THAT(words(daemon.ask(client, limit_to(140))), HasSubstr("process 502 of user 1001"));
}

TEST(Leases, AProcessThatEndsBetweenTwoLooksEndsNoLease) {
  DaemonWorld daemon;
  const auto client = daemon.connect(1000);
  (void)daemon.ask(client, kOneGpu);
  (void)daemon.ask(client, limit_to(150));
  daemon.world.gpu().process = 503;  // the driver names it, and /proc has it no more
  daemon.world.gpu().process_lists = 1;
  daemon.pass(3_s, {client});
  EXPECT_EQ(daemon.world.gpu().process, 0) << "it was never looked for";
  EXPECT_EQ(daemon.world.gpu().requested, 150);
  daemon.world.gpu().process = 504;  // one that goes on and cannot be seen is another's
  daemon.pass(3_s, {client});
  EXPECT_TRUE(daemon.as_found());
}

TEST(Leases, SomebodyElsesLimitStandsAndEndsTheLease) {
  DaemonWorld daemon;
  const auto client = daemon.connect();
  (void)daemon.ask(client, kOneGpu);
  (void)daemon.ask(client, limit_to(150));
  daemon.world.gpu().requested = 175;
  daemon.pass(2_s, {client});
  EXPECT_EQ(daemon.world.gpu().requested, 175);
  const auto told = daemon.ask(client, wire::Release{});
  EXPECT_EQ(std::get<wire::Restored>(told).reports.at(0).outcome, Restoration::left_alone);
}

TEST(Leases, OtherManagersAreStoodBackFrom) {
  DaemonWorld daemon;
  daemon.world.gpu().cap = 180;
  EXPECT_THAT(words(daemon.ask(daemon.connect(), kOneGpu)), HasSubstr("180 W enforced"));
  daemon.world.gpu().cap = 0;
  daemon.world.gpus[kOther].tells_application_clocks = true;
  daemon.start();
  const wire::Acquire clocks{{kOther}, {Knob::sm_clock}, {}};
  EXPECT_THAT(words(daemon.ask(daemon.connect(), clocks)), HasSubstr("application clocks"));
  EXPECT_TRUE(
      is<wire::Granted>(daemon.ask(daemon.connect(), wire::Acquire{{kOther}, {Knob::power_limit}, {}})));
}

TEST(Leases, AKnobThatTheGpuDoesNotLetBeSetIsNotLeased) {
  DaemonWorld daemon;
  daemon.die();
  daemon.world.gpu().mig = true;
  daemon.start();
  const auto client = daemon.connect();
  const auto refused = daemon.ask(client, kTwoGpus);
  EXPECT_EQ(refusal(refused), ErrorCode::not_supported);
  EXPECT_THAT(words(refused), HasSubstr("the knob power-limit cannot be set: MIG is on"));
  EXPECT_FALSE(std::filesystem::exists(daemon.world.journal(kOther)));
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(client, wire::Acquire{{kOther}, {Knob::power_limit}, {}})));
  // Switched while rubatod runs.
  daemon.world.gpu().mig = false;
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(daemon.connect(), kOneGpu)));
}

TEST(Leases, AResetOfTheGpuEndsTheLeaseAndNothingOldIsPutBackOverIt) {
  DaemonWorld daemon;
  const auto client = daemon.connect();
  (void)daemon.ask(client, kOneGpu);
  (void)daemon.ask(client, limit_to(150));
  daemon.world.gpu().energy_j = 1;
  daemon.world.gpu().requested = 250;  // the driver's default
  daemon.pass(2_s, {client});
  EXPECT_EQ(daemon.world.gpu().requested, 250);
  EXPECT_FALSE(std::filesystem::exists(daemon.world.journal()));
  EXPECT_THAT(words(daemon.ask(client, limit_to(140))), HasSubstr("reset"));
}

TEST(Leases, ACounterThatLiesEndsNoLeaseWhoseLimitIsInForce) {
  DaemonWorld daemon;
  const auto client = daemon.connect();
  (void)daemon.ask(client, kOneGpu);
  (void)daemon.ask(client, limit_to(150));
  daemon.world.gpu().energy_j = 1;
  daemon.pass(2_s, {client});
  EXPECT_TRUE(is<wire::Applied>(daemon.ask(client, limit_to(140))));
  EXPECT_EQ(daemon.world.gpu().requested, 140);
}

TEST(Leases, TheNextStartPutsBackWhatAKilledDaemonLeft) {
  DaemonWorld daemon;
  const auto client = daemon.connect();
  (void)daemon.ask(client, kTwoGpus);
  (void)daemon.ask(client, limit_to(150));
  (void)daemon.ask(client, fake::sm_at(1005));
  daemon.die();
  EXPECT_EQ(daemon.world.gpu().requested, 150);
  daemon.audit.clear();
  daemon.start();
  EXPECT_TRUE(daemon.as_found());
  EXPECT_THAT(daemon.log(), Contains("restore done"));
}

TEST(Leases, AGpuInTheHandsOfAGuardIsAwayUntilThatEnds) {
  DaemonWorld daemon;
  daemon.die();
  auto guard = std::make_unique<guard::Guard>(daemon.world.options());
  (void)guard::fake::ask(*guard, guard::fake::kBothKnobs);
  (void)guard::fake::ask(*guard, limit_to(150));
  daemon.start();
  const auto client = daemon.connect();
  const auto refused = daemon.ask(client, kOneGpu);
  EXPECT_EQ(refusal(refused), ErrorCode::unavailable);
  EXPECT_THAT(words(refused), HasSubstr("another rubato guard"));
  EXPECT_EQ(daemon.world.gpu().requested, 150) << "its setting is not ours to touch";
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(client, wire::Acquire{{kOther}, {Knob::power_limit}, {}})));
  (void)daemon.ask(client, wire::Release{});
  (void)guard->client_gone({});
  guard.reset();
  daemon.pass(2_s);
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(client, kOneGpu)));
}

TEST(Leases, AskedToEndItPutsEverythingBackAndGrantsNothingMore) {
  DaemonWorld daemon;
  const auto held = daemon.connect();
  (void)daemon.ask(held, kOneGpu);
  (void)daemon.ask(held, limit_to(150));
  const auto taking = daemon.connect();
  daemon.send(taking, wire::Acquire{{kOther}, {Knob::power_limit}, {}});
  daemon.core().stop("a test", daemon.now());
  daemon.settle();
  EXPECT_TRUE(daemon.core().idle());
  EXPECT_TRUE(daemon.as_found());
  EXPECT_EQ(refusal(daemon.heard(taking).back().body), ErrorCode::unavailable);
}

TEST(Leases, ARestorationThatFailsIsTriedAgain) {
  DaemonWorld daemon;
  const auto client = daemon.connect();
  (void)daemon.ask(client, kOneGpu);
  (void)daemon.ask(client, limit_to(150));
  daemon.world.gpu().quietly_at_least = 210;  // the driver takes 200 W and sets this
  const auto told = daemon.ask(client, wire::Release{});
  EXPECT_EQ(std::get<wire::Restored>(told).reports.at(0).outcome, Restoration::failed);
  daemon.world.gpu().quietly_at_least = 0;
  daemon.pass(2_s);
  EXPECT_TRUE(daemon.as_found());
  EXPECT_FALSE(std::filesystem::exists(daemon.world.journal()));
}

}  // namespace
}  // namespace rubato::daemon
