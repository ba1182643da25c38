// What rubatod refuses: by protocol, rules, rates, budget, and while it is disabled or only observes.
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
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Bounds, WithoutAHelloNothingIsAnsweredAndWhoSaysNothingIsLetGo) {
  DaemonWorld daemon;
  const auto client = daemon.connect(1000, false);
  EXPECT_EQ(refusal(daemon.ask(client, kOneGpu)), ErrorCode::no_permission);
  EXPECT_EQ(refusal(daemon.ask(client, wire::StatusRequest{})), ErrorCode::no_permission);
  EXPECT_FALSE(daemon.let_go(client));
  daemon.pass(kGreetingPatience + 1_s);
  EXPECT_TRUE(daemon.let_go(client));
}

TEST(Bounds, GarbageIsRefusedAndWhoSendsMuchOfItIsLetGo) {
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

TEST(Bounds, AForgedLeaseSetsNothing) {
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

TEST(Bounds, WhoseProcessCannotBeToldGetsNothingButTheStatus) {
  DaemonWorld daemon;
  const ConnectionId client = 99;
  daemon.core().connected(client, Caller{.uid = 1000, .pid = 4711}, daemon.now());
  (void)daemon.ask(client, wire::Hello{"test", {}});
  const auto refused = daemon.ask(client, kOneGpu);
  EXPECT_EQ(refusal(refused), ErrorCode::no_permission);
  EXPECT_THAT(words(refused), HasSubstr("process 4711"));
  const auto status = std::get<wire::StatusReply>(daemon.ask(client, wire::StatusRequest{}));
  EXPECT_THAT(status.gpus.at(0).why_not, HasSubstr("process 4711"));
}

TEST(Bounds, ObservingSetsNothingAndWritesDownWhatItWouldSet) {
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

TEST(Bounds, RulesBoundWhatIsLeasedAndWhatIsSet) {
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

TEST(Bounds, OnlyRootStatesALockThatWouldStayAfterTheLease) {
  DaemonWorld daemon;
  wire::Acquire stating = kOneGpu;
  stating.found_sm_clock = ClockRange{135_MHz, 135_MHz};
  const auto client = daemon.connect(1000);
  const auto refused = daemon.ask(client, stating);
  ASSERT_EQ(refusal(refused), ErrorCode::no_permission);
  EXPECT_THAT(words(refused), HasSubstr("only root tells rubatod of a clock lock"));
  EXPECT_EQ(daemon.audit.back().found_sm_clock, stating.found_sm_clock) << "who tried what is in the log";
  ASSERT_TRUE(is<wire::Granted>(daemon.ask(client, kOneGpu)));
  (void)daemon.ask(client, fake::sm_at(1005));
  (void)daemon.ask(client, wire::Release{});
  EXPECT_FALSE(daemon.world.gpu().sm.on);

  const auto root = daemon.connect(0);
  ASSERT_TRUE(is<wire::Granted>(daemon.ask(root, stating)));
  EXPECT_EQ(daemon.audit.back().found_sm_clock, stating.found_sm_clock);
  (void)daemon.ask(root, fake::sm_at(1005));
  (void)daemon.ask(root, wire::Release{});
  EXPECT_EQ(daemon.world.gpu().sm.max, 135);
}

TEST(Bounds, TheNodesPowerBudgetBoundsWhatIsRaisedAndNeverWhatIsLowered) {
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

/// Two clients at 150 W each, of the 350 W that the node may have.
struct TwoUnderABudget {
  TwoUnderABudget() : daemon(rules()) {
    (void)daemon.ask(first, kOneGpu);
    (void)daemon.ask(second, wire::Acquire{{kOther}, {Knob::power_limit}, {}});
    (void)daemon.ask(first, limit_to(150));
    (void)daemon.ask(second, wire::Apply{kOther, {.power_limit = 150_W}});
  }
  static Rules rules() {
    Rules rules = DaemonWorld::managing();
    rules.node_power_budget = 350_W;
    return rules;
  }
  void expect_no_room_for_190() {
    EXPECT_THAT(words(daemon.ask(second, wire::Apply{kOther, {.power_limit = 190_W}})),
                HasSubstr("budget of 350 W"));
  }
  DaemonWorld daemon;
  ConnectionId first = daemon.connect(1000);
  ConnectionId second = daemon.connect(1001);
};

TEST(Bounds, WhatIsStillBeingSetCountsForTheNodesPowerBudget) {
  TwoUnderABudget two;
  const auto refused_beside = [&](const wire::Body& slow) {
    two.daemon.owner(0).hangs = true;
    two.daemon.send(two.first, slow);
    two.expect_no_room_for_190();
    two.daemon.owner(0).hangs = false;
    two.daemon.settle();
  };
  refused_beside(limit_to(200));
  (void)two.daemon.ask(two.first, limit_to(150));
  refused_beside(wire::Restore{kGpu});
  (void)two.daemon.ask(two.first, limit_to(150));
  refused_beside(wire::Release{});
  EXPECT_EQ(two.daemon.world.gpus[kOther].requested, 150);
}

TEST(Bounds, WhatWasPutBackCountsForTheNodesPowerBudgetAtOnce) {
  TwoUnderABudget two;
  (void)two.daemon.ask(two.first, wire::Restore{kGpu});
  two.expect_no_room_for_190();
}

TEST(Bounds, SettingsAndLeasesHaveARate) {
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

TEST(Bounds, RestoringHasTheRateOfSettings) {
  Rules rules = DaemonWorld::managing();
  rules.rates.settings_per_s = 5;
  DaemonWorld daemon(rules);
  const auto client = daemon.connect();
  (void)daemon.ask(client, kOneGpu);
  int restored = 0;
  for (int i = 0; i < 50; ++i)
    restored += is<wire::Restored>(daemon.ask(client, wire::Restore{kGpu})) ? 1 : 0;
  EXPECT_EQ(restored, 10) << "two seconds' worth";
  EXPECT_TRUE(is<wire::Restored>(daemon.ask(client, wire::Release{}))) << "ending a lease has none";
}

TEST(Bounds, NoUserFillsTheLogAndHowManyLinesWereLeftOutIsTold) {
  for (const Mode mode : {Mode::observe, Mode::manage}) {
    Rules rules;
    rules.mode = mode;
    DaemonWorld daemon(rules);
    const auto client = daemon.connect(1000);
    (void)daemon.ask(client, kOneGpu);
    for (int i = 0; i < 150; ++i) {
      (void)daemon.ask(client, limit_to(150 + i % 2));
      (void)daemon.ask(client, wire::Restore{kGpu});
    }
    EXPECT_LE(daemon.audit.size(), 40U)
        << name_of(mode) << ": two seconds' worth of what was done and of what was not";
    (void)daemon.ask(daemon.connect(1001), wire::Acquire{{kOther}, {Knob::power_limit}, {}});
    EXPECT_EQ(daemon.audit.back().caller->uid, 1001U) << "another user has lines of their own";
    daemon.pass(1_s, {client});
    (void)daemon.ask(client, limit_to(150));
    EXPECT_THAT(daemon.audit.back().why, HasSubstr("more lines of this user's were left out"));
  }
}

TEST(Bounds, WhatADriverDidNotPutBackIsWrittenHoweverMuchTheUserSaid) {
  DaemonWorld daemon;
  const auto client = daemon.connect();
  (void)daemon.ask(client, kOneGpu);
  for (int i = 0; i < 100; ++i) (void)daemon.ask(client, limit_to(150 + i % 2));
  daemon.world.gpu().quietly_at_least = 210;
  (void)daemon.ask(client, wire::Release{});
  EXPECT_EQ(daemon.log().back(), "end failed");
}

TEST(Bounds, ARuleMayAllowSharedGpus) {
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

TEST(Bounds, RequestsThatDoNotWaitForRepliesAreBounded) {
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
