#include "daemon/core.h"

#include <gmock/gmock.h>

#include "daemon/daemon_world.h"

namespace rubato::daemon {
namespace {

using fake::DaemonWorld;
using fake::kGpu;
using fake::kOneGpu;
using fake::kOther;
using fake::kTwoGpus;
using fake::limit_to;
using guard::fake::refusal;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
bool is(const wire::Body& body) {
  return std::holds_alternative<T>(body);
}
std::string words(const wire::Body& body) {
  const auto* refused = std::get_if<wire::Refused>(&body);
  return refused == nullptr ? "not refused" : refused->error.what;
}

TEST(Core, ALeaseIsGrantedSetsAndIsReleasedToTheFoundStateAndEveryDecisionIsInTheLog) {
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

TEST(Core, AskedAgainAfterAReleaseItGrantsAgain) {
  DaemonWorld daemon;
  const auto client = daemon.connect();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(is<wire::Granted>(daemon.ask(client, kTwoGpus)));
    ASSERT_TRUE(is<wire::Applied>(daemon.ask(client, limit_to(150))));
    ASSERT_TRUE(is<wire::Restored>(daemon.ask(client, wire::Release{})));
    EXPECT_TRUE(daemon.as_found());
  }
}

TEST(Core, WithoutAHelloNothingIsAnsweredAndWhoSaysNothingIsLetGo) {
  DaemonWorld daemon;
  const auto client = daemon.connect(1000, false);
  EXPECT_EQ(refusal(daemon.ask(client, kOneGpu)), ErrorCode::no_permission);
  EXPECT_EQ(refusal(daemon.ask(client, wire::StatusRequest{})), ErrorCode::no_permission);
  EXPECT_FALSE(daemon.let_go(client));
  daemon.pass(kGreetingPatience + 1_s);
  EXPECT_TRUE(daemon.let_go(client));
}

TEST(Core, GarbageIsRefusedAndWhoSendsMuchOfItIsLetGo) {
  DaemonWorld daemon;
  const auto client = daemon.connect();
  const std::string bytes[] = {"", std::string(5, '\0'), "rubato-lease/2 hello 1\n",
                               "rubato-lease/1 acquire x\n", std::string(20'000, 'a')};
  for (int i = 0; !daemon.let_go(client); ++i) {
    ASSERT_LT(i, 100);
    daemon.send_raw(client, bytes[i % 5]);
  }
  EXPECT_EQ(daemon.world.gpu().writes, 0);
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(daemon.connect(), kOneGpu)));
}

TEST(Core, SilenceEndsALeaseAndHeartbeatsKeepIt) {
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

TEST(Core, AClientThatIsGoneLosesItsLeaseAtAnyMoment) {
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

TEST(Core, AGpuIsLeasedOnceAndAllOfALeaseOrNone) {
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

TEST(Core, OneGpuThatCannotBeTakenGivesBackTheOthers) {
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

TEST(Core, AForgedLeaseSetsNothing) {
  DaemonWorld daemon;
  const auto owner = daemon.connect(1000);
  const auto thief = daemon.connect(1001);
  (void)daemon.ask(owner, kOneGpu);
  (void)daemon.ask(owner, limit_to(150));
  const int writes = daemon.world.gpu().writes;
  for (const wire::Body& message :
       {wire::Body(limit_to(250)), wire::Body(wire::Restore{kGpu}), wire::Body(wire::Release{})})
    EXPECT_EQ(refusal(daemon.ask(thief, message)), ErrorCode::invalid_argument);
  (void)daemon.ask(thief, wire::Acquire{{kOther}, {Knob::power_limit}, {}});
  EXPECT_EQ(refusal(daemon.ask(thief, limit_to(250))), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(daemon.ask(thief, wire::Apply{{"GPU-z"}, {.power_limit = 150_W}})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(daemon.ask(daemon.connect(), wire::Acquire{{{"GPU-z"}}, {Knob::power_limit}, {}})),
            ErrorCode::not_found);
  EXPECT_EQ(refusal(daemon.ask(thief, wire::Granted{})), ErrorCode::invalid_argument);
  EXPECT_EQ(daemon.world.gpu().writes, writes);
  EXPECT_EQ(daemon.world.gpu().requested, 150);
}

TEST(Core, ObservingSetsNothingAndWritesDownWhatItWouldSet) {
  DaemonWorld daemon(Rules{});
  const auto client = daemon.connect();
  ASSERT_TRUE(is<wire::Granted>(daemon.ask(client, kOneGpu)));
  const auto told = daemon.ask(client, limit_to(150));
  EXPECT_EQ(refusal(told), ErrorCode::unavailable);
  EXPECT_THAT(words(told), HasSubstr("would have set 150 W"));
  ASSERT_TRUE(is<wire::Restored>(daemon.ask(client, wire::Release{})));
  EXPECT_EQ(daemon.world.gpu().writes, 0);
  EXPECT_FALSE(std::filesystem::exists(daemon.world.journal()));
  EXPECT_THAT(daemon.log(), ElementsAre("lease would_grant", "set would_set", "end done"));
}

TEST(Core, RulesBoundWhatIsLeasedAndWhatIsSet) {
  Rules rules = DaemonWorld::managing();
  rules.rules = {Rule{.name = "guests", .users = {1001}, .allow = false}, Rule{.name = "students",
                                                                               .users = {1000},
                                                                               .knobs = {Knob::power_limit},
                                                                               .min_power_limit = 140_W,
                                                                               .max_slowdown = 0.03}};
  DaemonWorld daemon(rules);
  EXPECT_EQ(refusal(daemon.ask(daemon.connect(1002), kOneGpu)), ErrorCode::no_permission)
      << "no rule is for them";
  EXPECT_THAT(words(daemon.ask(daemon.connect(1001), kOneGpu)), HasSubstr("'guests' forbids"));
  const auto client = daemon.connect(1000);
  EXPECT_THAT(words(daemon.ask(client, kOneGpu)), HasSubstr("does not allow the knob sm-clock"));
  wire::Acquire wanted{{kGpu}, {Knob::power_limit}, {}};
  EXPECT_THAT(words(daemon.ask(client, wanted)), HasSubstr("wants a run that watches its slowdown"));
  wanted.max_slowdown = 0.05;
  EXPECT_THAT(words(daemon.ask(client, wanted)), HasSubstr("at most 3 % more time, and 5 %"));
  wanted.max_slowdown = 0.02;
  ASSERT_TRUE(is<wire::Granted>(daemon.ask(client, wanted)));
  EXPECT_THAT(words(daemon.ask(client, limit_to(139))), HasSubstr("140 W or more"));
  EXPECT_EQ(daemon.world.gpu().writes, 0);
  EXPECT_TRUE(is<wire::Applied>(daemon.ask(client, limit_to(140))));
  const auto status = std::get<wire::StatusReply>(daemon.ask(daemon.connect(1001), wire::StatusRequest{}));
  EXPECT_FALSE(status.gpus.at(0).allowed);
  EXPECT_THAT(status.gpus.at(0).why_not, HasSubstr("guests"));
  EXPECT_EQ(status.gpus.at(0).state, "leased");
}

TEST(Core, TheNodesPowerBudgetBoundsWhatIsRaisedAndNeverWhatIsLowered) {
  Rules rules = DaemonWorld::managing();
  rules.node_power_budget = 350_W;  // below the 400 W found
  DaemonWorld daemon(rules);
  const auto client = daemon.connect();
  (void)daemon.ask(client, kTwoGpus);
  EXPECT_TRUE(is<wire::Applied>(daemon.ask(client, limit_to(180))));
  EXPECT_THAT(words(daemon.ask(client, limit_to(190))), HasSubstr("budget of 350 W"));
  EXPECT_TRUE(is<wire::Applied>(daemon.ask(client, wire::Apply{kOther, {.power_limit = 120_W}})));
  EXPECT_TRUE(is<wire::Applied>(daemon.ask(client, limit_to(230))));
  (void)daemon.ask(client, wire::Release{});
  EXPECT_TRUE(daemon.as_found()) << "what was found comes back, budget or not";
}

TEST(Core, SettingsAndLeasesHaveARate) {
  Rules rules = DaemonWorld::managing();
  rules.rates.settings_per_s = 5;
  rules.rates.leases_per_s = 2;
  DaemonWorld daemon(rules);
  const auto client = daemon.connect();
  (void)daemon.ask(client, kOneGpu);
  int set = 0;
  for (int i = 0; i < 50; ++i) set += is<wire::Applied>(daemon.ask(client, limit_to(150 + i % 2))) ? 1 : 0;
  EXPECT_EQ(set, 10) << "two seconds' worth";
  daemon.pass(1_s, {client});
  EXPECT_TRUE(is<wire::Applied>(daemon.ask(client, limit_to(160))));
  int refused = 0;
  for (int i = 0; i < 20; ++i) refused += is<wire::Refused>(daemon.ask(daemon.connect(), kOneGpu)) ? 1 : 0;
  EXPECT_EQ(refused, 20);
  EXPECT_LT(daemon.audit.size(), 50U) << "a flood of refusals does not fill the log";
}

TEST(Core, SomebodyElsesProcessOnTheGpuEndsTheLease) {
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

TEST(Core, ARuleMayAllowSharedGpus) {
  Rules rules = DaemonWorld::managing();
  rules.rules = {Rule{.name = "shared", .shared = true}};
  DaemonWorld daemon(rules);
  daemon.put_process(502, 1001);
  daemon.world.gpu().process = 502;
  const auto client = daemon.connect(1000);
  EXPECT_TRUE(is<wire::Granted>(daemon.ask(client, kOneGpu)));
  EXPECT_TRUE(is<wire::Applied>(daemon.ask(client, limit_to(150))));
  daemon.pass(3_s, {client});
  EXPECT_EQ(daemon.world.gpu().requested, 150);
}

TEST(Core, SomebodyElsesLimitStandsAndEndsTheLease) {
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

TEST(Core, OtherManagersAreStoodBackFrom) {
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

TEST(Core, AResetOfTheGpuEndsTheLeaseAndNothingOldIsPutBackOverIt) {
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

TEST(Core, DisabledOrDuringWhatIsForbiddenEveryLeaseEndsAndNoneBegins) {
  for (const bool disable : {true, false}) {
    DaemonWorld daemon;
    const auto client = daemon.connect();
    (void)daemon.ask(client, kTwoGpus);
    (void)daemon.ask(client, limit_to(150));
    daemon.surroundings =
        disable ? Surroundings{true, {}} : Surroundings{false, "never during 'health check'"};
    daemon.step();
    EXPECT_TRUE(daemon.as_found());
    EXPECT_TRUE(daemon.core().idle());
    EXPECT_EQ(refusal(daemon.ask(client, kOneGpu)), ErrorCode::unavailable);
    daemon.surroundings = {};
    daemon.step();
    EXPECT_TRUE(is<wire::Granted>(daemon.ask(client, kOneGpu)));
  }
}

TEST(Core, AGpuWhoseDriverHangsHoldsUpNoOther) {
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

TEST(Core, SignsOfLifeAreGivenWhileADriverIsSlowAndNotWhereItHangs) {
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

TEST(Core, TheNextStartPutsBackWhatAKilledDaemonLeft) {
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

TEST(Core, AGpuInTheHandsOfAGuardIsAwayUntilThatEnds) {
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

TEST(Core, NewRulesEndTheLeasesThatTheyDoNotAllow) {
  DaemonWorld daemon;
  const auto client = daemon.connect(1000);
  (void)daemon.ask(client, kOneGpu);
  (void)daemon.ask(client, limit_to(150));
  daemon.core().use_rules(DaemonWorld::managing(), daemon.now());
  daemon.settle();
  EXPECT_EQ(daemon.world.gpu().requested, 150) << "the same rules end nothing";
  Rules rules = DaemonWorld::managing();
  rules.rules = {Rule{.name = "others", .users = {1001}}};
  daemon.core().use_rules(rules, daemon.now());
  daemon.settle();
  EXPECT_TRUE(daemon.as_found());
}

TEST(Core, AskedToEndItPutsEverythingBackAndGrantsNothingMore) {
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

TEST(Core, ARestorationThatFailsIsTriedAgain) {
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

TEST(Core, RequestsThatDoNotWaitForRepliesAreBounded) {
  DaemonWorld daemon;
  const auto client = daemon.connect();
  (void)daemon.ask(client, kOneGpu);
  daemon.owner(0).hangs = true;
  for (int i = 0; i < 100; ++i) daemon.send(client, limit_to(150));
  EXPECT_GT(daemon.heard(client).size(), 80U);
  EXPECT_EQ(refusal(daemon.heard(client).back().body), ErrorCode::busy);
  daemon.owner(0).hangs = false;
  daemon.settle();
  EXPECT_EQ(daemon.world.gpu().requested, 150);
}

}  // namespace
}  // namespace rubato::daemon
