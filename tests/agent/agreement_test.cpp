#include <gmock/gmock.h>

#include "agent/made_job.h"

namespace rubato::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kSeeds = 150;
constexpr Seconds kLongestDelay{4};

/// Goes through a few settings, each wanted for some dozen iterations.
void search(MadeJob& job, Random& random, int iterations) {
  double clock = 900;
  for (int i = 0; i < iterations; ++i) {
    if (i % 40 == 0) {
      job.want(random.uniform() < 0.3 ? Setting{} : clock_of(clock));
      clock += 10;
    }
    job.iterate();
  }
}

int iterations_with_two_settings(const MadeJob& job) {
  return static_cast<int>(std::count_if(job.history().begin(), job.history().end(),
                                        [](const auto& entry) { return entry.second.size() > 1; }));
}

TEST(Agreement, EverybodySwitchesAtTheSameIteration) {
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    MadeJob job({.seed = static_cast<std::uint64_t>(seed),
                 .ranks = 2 + seed % 7,
                 .iteration = Seconds(random.uniform(0.02, 3.0)),
                 .network = {.delay = Seconds(0.03)}});
    search(job, random, 400);
    EXPECT_EQ(iterations_with_two_settings(job), 0) << "seed " << seed;
    EXPECT_GT(job.leader().counts().switches, 3) << "seed " << seed;
    EXPECT_EQ(job.leader().counts().cancelled, 0) << "seed " << seed;
    EXPECT_EQ(job.unacknowledged(), 0);
  }
}

// Whatever takes long on the way to one rank, or on the way from it: nobody is left behind, and nobody goes
// ahead. Only who hears late that all go back to the found setting does so late.
TEST(Agreement, OneSlowDirectionNeverPartsTheRanks) {
  int cancelled = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const Seconds length(random.uniform(0.1, 1.0));
    MadeJob job(
        {.seed = static_cast<std::uint64_t>(seed),
         .ranks = 4,
         .iteration = length,
         .network = {
             .slow_share = 0.2, .slowest = kLongestDelay, .slow_rank = 2, .slow_down = seed % 2 == 0}});
    search(job, random, 400);
    for (const auto& [iteration, settings] : job.history())
      EXPECT_TRUE(settings.size() == 1 || (settings.size() == 2 && settings.contains(0)))
          << "seed " << seed << ", iteration " << iteration;
    const auto told_late = static_cast<int>(kLongestDelay / length) + 2;
    EXPECT_LE(iterations_with_two_settings(job), told_late * job.leader().counts().halts) << "seed " << seed;
    EXPECT_EQ(job.unacknowledged(), 0) << "seed " << seed;
    cancelled += static_cast<int>(job.leader().counts().cancelled);
  }
  EXPECT_GT(cancelled, 0);
}

// Where words are late both ways on many links two ranks can differ: whose word was late says so, and all go
// back.
TEST(Agreement, WhereEverythingIsLateADifferenceDoesNotLast) {
  int different = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    MadeJob job({.seed = static_cast<std::uint64_t>(seed),
                 .ranks = 5,
                 .iteration = Seconds(0.4),
                 .network = {.slow_share = 0.1, .slowest = Seconds(4), .break_rate = 0.01}});
    search(job, random, 400);
    EXPECT_EQ(job.unacknowledged(), 0) << "seed " << seed;
    int longest = 0;
    int running = 0;
    for (const auto& [iteration, settings] : job.history()) {
      running = settings.size() > 1 ? running + 1 : 0;
      longest = std::max(longest, running);
      different += settings.size() > 1 ? 1 : 0;
    }
    // Silence is noticed after 10 s, which are 25 of these iterations, and the slowest word takes as long
    // as 10.
    EXPECT_LE(longest, 40) << "seed " << seed;
  }
  // Of 60,000 iterations; it would be zero only in a world where the test can show nothing.
  EXPECT_GT(different, 0);
  EXPECT_LT(different, 3000);
}

TEST(Agreement, AfterALossAllComeTogetherAtTheFoundSetting) {
  for (std::int64_t victim = 0; victim < 4; ++victim) {
    MadeJob job({.seed = 7, .ranks = 4});
    job.want(clock_of(1000));
    while (job.clocks() != std::set<double>{1000}) job.iterate();
    job.kill(victim);
    job.want({});
    for (int i = 0; i < 3; ++i) job.iterate();
    EXPECT_THAT(job.clocks(), ElementsAre(0.0)) << "rank " << victim;
    if (victim != 0) {
      EXPECT_THAT(job.leader().why_not(), HasSubstr("3 of 4 ranks"));
    }
  }
}

TEST(Agreement, ARankThatMayNotSetAnyMoreTakesAllBack) {
  MadeJob job({.seed = 3, .ranks = 3});
  job.want(clock_of(1000));
  while (job.clocks() != std::set<double>{1000}) job.iterate();
  job.forbid(2, true);
  for (int i = 0; i < 4; ++i) job.iterate();
  EXPECT_THAT(job.clocks(), ElementsAre(0.0));
  EXPECT_THAT(job.leader().why_not(), HasSubstr("rank 2 on node2"));
  job.forbid(2, false);
  for (int i = 0; i < 40; ++i) job.iterate();
  EXPECT_THAT(job.clocks(), ElementsAre(1000.0));
}

TEST(Agreement, WhoIsLostAndComesBackIsTakenInAgain) {
  MadeJob job({.seed = 5, .ranks = 4, .network = {.break_rate = 0.02}});
  job.want(clock_of(1000));
  for (int i = 0; i < 2000; ++i) job.iterate();
  EXPECT_GT(job.leader().counts().lost, 5);
  EXPECT_GT(job.leader().counts().switches, 5);
}

TEST(Leader, RefusesWhatDoesNotBelongIntoTheJob) {
  struct Case {
    Join join;
    const char* why;
  };
  const auto with = [](auto change) {
    Join join = made_join(2, 4);
    change(join);
    return join;
  };
  const std::vector<Case> cases = {
      {with([](Join& j) { j.world = 8; }), "it is of a job of 8 ranks"},
      {with([](Join& j) { j.rank = 1; }), "rank 1 is here already"},
      {with([](Join& j) { j.gpus = {GpuId{"GPU-1"}}; }), "GPU-1 is counted by rank 1 on node1 already"},
      {with([](Join& j) { j.space = "a power limit of 100 to 250 W"; }), "is not what may be set at rank 0"},
      {with([](Join& j) { j.covers = 3; }), "5 ranks would be here of 4"},
  };
  for (const Case& one : cases) {
    Leader leader(made_join(0, 4), {}, {});
    leader.hear(1, made_join(1, 4), {});
    static_cast<void>(leader.take());
    leader.hear(2, one.join, {});
    const auto out = leader.take();
    ASSERT_EQ(out.size(), 1U) << one.why;
    EXPECT_THAT(std::get<Refuse>(out.front().message).why, HasSubstr(one.why));
    EXPECT_THAT(leader.take_dropped(), ElementsAre(2));
    EXPECT_EQ(leader.members(), 1U);
  }
}

TEST(Leader, TellsOfARefusedRankOnce) {
  Leader leader(made_join(0, 4), {}, {});
  Join join = made_join(2, 4);
  join.world = 8;
  for (Peer peer = 1; peer <= 3; ++peer) leader.hear(peer, join, {});
  EXPECT_THAT(leader.take_notes(), ElementsAre(HasSubstr("rank 2 on node2 does not take part")));
  EXPECT_EQ(leader.take().size(), 3U);
  join.rank = 3;
  leader.hear(4, join, {});
  EXPECT_THAT(leader.take_notes(), ElementsAre(HasSubstr("rank 3 on node2 does not take part")));
}

TEST(Leader, TakesInAgainWhoseConnectionEndedForItselfAlone) {
  Leader leader(made_join(0, 2), {}, {});
  leader.hear(1, made_join(1, 2), {});
  static_cast<void>(leader.take());
  leader.hear(2, made_join(1, 2), {});
  const auto out = leader.take();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<Welcome>(out.front().message));
  EXPECT_THAT(leader.take_dropped(), ElementsAre(1));
  EXPECT_TRUE(leader.everybody_here());
  EXPECT_EQ(leader.counts().lost, 1);
}

TEST(Member, OneThatWasRefusedAsksNoMore) {
  Member member(made_join(1, 2), {});
  member.connected({});
  EXPECT_EQ(member.take().size(), 1U);
  member.hear(Refuse{"no"}, {});
  member.lost("the connection has ended");
  member.connected(TimePoint{} + 1_s);
  EXPECT_EQ(member.state(), Member::State::refused);
  EXPECT_TRUE(member.take().empty());
  EXPECT_EQ(member.why(), "rank 0 refuses: no");
}

TEST(Leader, DropsAMemberThatSpeaksOutOfTurn) {
  Leader leader(made_join(0, 2), {}, {});
  leader.hear(1, Report{}, {});
  EXPECT_THAT(leader.take_dropped(), ElementsAre(1));
  leader.hear(2, made_join(1, 2), {});
  leader.hear(2, Commit{1}, {});
  EXPECT_THAT(leader.take_dropped(), ElementsAre(2));
}

/// A leader with one member, at `clock` both.
Leader leader_at(const Setting& clock, std::int64_t& iterations, TimePoint& now) {
  Leader leader(made_join(0, 2), {}, {});
  leader.hear(1, made_join(1, 2), {});
  const auto look = [&](std::uint64_t epoch) {
    const Report stands{.iterations = iterations, .by_marks = true, .epoch = epoch, .may_set = true};
    leader.hear(1, stands, now);
    leader.see(stands, Seconds(0.4), now);
  };
  look(0);
  leader.want(clock, now);
  leader.hear(1, Ack{1, true, {}}, now);
  leader.hear(1, Received{1}, now);
  iterations = *leader.switches_at();
  now = now + Seconds(4);
  look(0);
  look(1);
  static_cast<void>(leader.take());
  return leader;
}

// Each is told its own clock, and all switch at one iteration.
TEST(Leader, ProposesALowerClockToWhoeverIsToHaveIt) {
  std::int64_t iterations = 10;
  TimePoint now;
  Leader leader = leader_at(clock_of(1000), iterations, now);
  leader.want({.base = clock_of(1000), .lower = {{1, Megahertz(900)}}}, now);
  const auto out = leader.take();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out.front().to, 1);
  EXPECT_EQ(std::get<Propose>(out.front().message).setting, clock_of(900));
  leader.hear(1, Ack{2, true, {}}, now);
  leader.hear(1, Received{2}, now);
  Report stands{.iterations = *leader.switches_at(), .by_marks = true, .epoch = 1, .may_set = true};
  leader.see(stands, Seconds(0.4), now);
  EXPECT_FALSE(leader.settled());
  stands.epoch = 2;
  leader.hear(1, stands, now);
  leader.see(stands, Seconds(0.4), now);
  EXPECT_TRUE(leader.settled());
  EXPECT_EQ(leader.agreed(), clock_of(1000));
  EXPECT_EQ(leader.agreed_by_all().of(1), clock_of(900));
  // Of a base that says no clock there is none lower.
  EXPECT_EQ((JobSetting{.base = {}, .lower = {{1, Megahertz(900)}}}).of(1), Setting{});
}

std::size_t halts_in(const std::vector<Outgoing>& out) {
  return static_cast<std::size_t>(std::count_if(
      out.begin(), out.end(), [](const Outgoing& one) { return std::holds_alternative<Halt>(one.message); }));
}

// Held meanwhile would be what is to be left because it is too slow.
TEST(Leader, TheFoundSettingNeedsNobodysConsent) {
  std::int64_t iterations = 10;
  TimePoint now;
  Leader leader = leader_at(clock_of(1000), iterations, now);
  ASSERT_EQ(leader.agreed(), clock_of(1000));
  leader.want(Setting{}, now);
  leader.step(now + Seconds(0.3));
  EXPECT_EQ(leader.agreed(), clock_of(1000));
  leader.step(now + Seconds(0.5));
  EXPECT_EQ(leader.agreed(), Setting{});
  EXPECT_EQ(halts_in(leader.take()), 1U);
}

TEST(Leader, WhatIsWantedIsProposedAgainAndThreeFailuresTakeAllBack) {
  std::int64_t iterations = 10;
  TimePoint now;
  Leader leader = leader_at(clock_of(1000), iterations, now);
  leader.want(clock_of(1100), now);
  for (int i = 0; i < 400 && !leader.agreed().empty(); ++i) {
    now = now + Seconds(0.1);
    const Report stands{
        .iterations = iterations + i / 4, .by_marks = true, .epoch = leader.epoch(), .may_set = true};
    leader.hear(1, stands, now);
    leader.see(stands, Seconds(0.4), now);
    leader.step(now);
  }
  EXPECT_EQ(leader.counts().cancelled, 3);
  EXPECT_EQ(leader.counts().halts, 1);
  // 1 s after the first, 2 s after the second, and 0.4 s of waiting each.
  EXPECT_NEAR(now.since_epoch().value(), 4 + 3 + 3 * 0.4, 0.5);
}

TEST(Member, SaysNoToAnIterationThatIsOver) {
  Member member(made_join(1, 2), {});
  member.connected({});
  member.hear(Welcome{"run-0"}, {});
  member.see({.iterations = 50, .by_marks = true, .may_set = true}, {}, {});
  static_cast<void>(member.take());
  member.hear(Propose{1, 51, 45, Seconds(0.4), clock_of(1000)}, {});
  const auto out = member.take();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_FALSE(std::get<Ack>(out.front()).yes);
  EXPECT_THAT(std::get<Ack>(out.front()).why_not, HasSubstr("at iteration 50 already"));
}

TEST(Member, CountsFromNowWhereTheProgramDoesNotCount) {
  Member member(made_join(1, 2), {});
  member.connected({});
  member.hear(Welcome{"run-0"}, {});
  member.see({.iterations = 12, .by_marks = false, .may_set = true}, {}, {});
  member.hear(Propose{1, 106, 100, Seconds(0.4), clock_of(1000)}, {});
  EXPECT_EQ(member.switches_at(), 18);
}

TEST(JobTally, AddsEnergyAndTakesTheSlowestTime) {
  JobTally job(kOwn);
  job.expect(2);
  const auto at = [](double work, double seconds, double joules) {
    return govern::Tally{.work = work, .at = TimePoint{} + Seconds(seconds), .energy = Joules(joules)};
  };
  job.tell(0, at(10, 100, 1000));
  EXPECT_FALSE(job.tally());
  job.tell(1, at(12, 7, 50));  // another clock, and it began two iterations later
  job.tell(0, at(14, 104, 1400));
  job.tell(1, at(14, 9.5, 300));  // 2.5 s for what took the other 2
  job.tell(0, at(20, 110, 2000));
  const auto tally = job.tally();
  ASSERT_TRUE(tally);
  EXPECT_DOUBLE_EQ(tally->work, 2);
  EXPECT_DOUBLE_EQ((tally->at - (TimePoint{} + Seconds(102))).value(), 2.5);
  EXPECT_DOUBLE_EQ(tally->energy->value(), 200 + 250);
  // One that is lost: what was counted stays, and the pause is nobody's.
  job.expect(0);
  EXPECT_DOUBLE_EQ(job.tally()->work, 2);
  job.expect(2);
  job.tell(0, at(40, 130, 4000));
  job.tell(1, at(40, 30, 3000));
  job.tell(0, at(42, 132, 4200));
  job.tell(1, at(42, 32, 3100));
  const auto again = job.tally();
  EXPECT_DOUBLE_EQ(again->work, 4);
  EXPECT_DOUBLE_EQ(again->energy->value(), 450 + 300);
  const auto cost = govern::cost_between(*tally, *again);
  EXPECT_DOUBLE_EQ(cost.time.value(), 1.0);
}

}  // namespace
}  // namespace rubato::agent
