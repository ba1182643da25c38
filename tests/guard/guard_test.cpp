#include "guard/guard.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "guard/guard_world.h"

namespace rubato::guard {
namespace {

using fake::ask;
using fake::both;
using fake::kBothKnobs;
using fake::kGpu;
using fake::kOther;
using fake::limit_to;
using fake::only_report;
using fake::refusal;
using fake::sm_at;
using fake::World;
using ::testing::HasSubstr;

bool granted(const wire::Body& body) {
  return std::holds_alternative<wire::Granted>(body);
}
bool applied(const wire::Body& body) {
  return std::holds_alternative<wire::Applied>(body);
}

TEST(Guard, AcquiringReadsWhatIsFoundAndWritesNothingToTheGpu) {
  World world;
  Guard guard(world.options());
  const auto reply = ask(guard, kBothKnobs);
  ASSERT_TRUE(granted(reply));
  EXPECT_EQ(std::get<wire::Granted>(reply).found.at(0).limits.requested, 200_W);
  EXPECT_EQ(world.gpu().writes, 0);
  EXPECT_TRUE(std::filesystem::exists(world.journal()));
  EXPECT_EQ(std::filesystem::status(world.journal()).permissions(), std::filesystem::perms(0600));
}

TEST(Guard, AReleaseBringsBackTheRequestedLimitAndUnlocksTheClocksAndRemovesTheJournalButNotTheLock) {
  World world;
  Guard guard(world.options());
  ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
  const auto reply = ask(guard, both(150, 1005));
  ASSERT_TRUE(applied(reply));
  EXPECT_EQ(std::get<wire::Applied>(reply).requested_limit, 150_W);
  EXPECT_EQ(world.gpu().sm, (fake::Lock{true, 1005, 1005}));
  EXPECT_EQ(only_report(ask(guard, wire::Release{})).outcome, Restoration::restored);
  EXPECT_EQ(world.gpu().requested, 200);
  EXPECT_FALSE(world.gpu().sm.on);
  EXPECT_FALSE(std::filesystem::exists(world.journal()));
  EXPECT_TRUE(std::filesystem::exists(world.folder / "GPU-a.lock"));
}

TEST(Guard, ALockIsAnsweredWithTheMomentTheDriverWasAskedAndALimitIsNot) {
  World world;
  Guard guard(world.options());
  ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
  world.clock->advance(Seconds(3));
  const auto lock = ask(guard, both(150, 1005));
  ASSERT_TRUE(applied(lock));
  EXPECT_EQ(std::get<wire::Applied>(lock).lock_asked, TimePoint{3'000'000'000});
  const auto limit = ask(guard, fake::limit_to(140));
  ASSERT_TRUE(applied(limit));
  EXPECT_FALSE(std::get<wire::Applied>(limit).lock_asked);
}

TEST(Guard, NothingSetMeansNothingToRestore) {
  World world;
  Guard guard(world.options());
  ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
  EXPECT_EQ(only_report(ask(guard, wire::Release{})).outcome, Restoration::not_needed);
  EXPECT_EQ(world.gpu().writes, 0);
  EXPECT_FALSE(std::filesystem::exists(world.journal()));
}

TEST(Guard, AControlBlockGoesBackToFoundAndKeepsTheLease) {
  World world;
  Guard guard(world.options());
  ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
  ASSERT_TRUE(applied(ask(guard, both(150, 1005))));
  EXPECT_EQ(only_report(ask(guard, wire::Restore{kGpu})).outcome, Restoration::restored);
  EXPECT_EQ(world.gpu().requested, 200);
  EXPECT_FALSE(world.gpu().sm.on);
  ASSERT_TRUE(applied(ask(guard, both(150, 1005))));
  EXPECT_EQ(world.gpu().requested, 150);
}

TEST(Guard, OnlyTheKnobsOfTheLeaseAndLegalValuesAreWritten) {
  World world;
  Guard guard(world.options());
  EXPECT_EQ(refusal(ask(guard, limit_to(150))), ErrorCode::invalid_argument);
  ASSERT_TRUE(granted(ask(guard, wire::Acquire{{kGpu}, {Knob::power_limit}, {}})));
  EXPECT_EQ(refusal(ask(guard, sm_at(1005))), ErrorCode::no_permission);
  EXPECT_EQ(refusal(ask(guard, both(150, 1005))), ErrorCode::no_permission);
  const auto too_low = ask(guard, limit_to(99));
  EXPECT_EQ(refusal(too_low), ErrorCode::invalid_argument);
  EXPECT_THAT(std::get<wire::Refused>(too_low).error.what, HasSubstr("100 W to 250 W"));
  EXPECT_EQ(refusal(ask(guard, wire::Apply{kOther, Setting{.power_limit = 150_W}})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(world.gpu().writes, 0);
}

TEST(Guard, AClockOutsideTheTableOrAnUpsideDownRangeIsRefused) {
  World world;
  Guard guard(world.options());
  ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
  EXPECT_EQ(refusal(ask(guard, sm_at(2000))), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(ask(guard, wire::Apply{kGpu, Setting{.sm_clock = ClockRange{900_MHz, 800_MHz}}})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(world.gpu().writes, 0);
}

TEST(Guard, ARequestThatFailsHalfWayIsUndoneWhole) {
  for (int call = 0; call < 20; ++call) {
    World world;
    Guard guard(world.options());
    ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
    ASSERT_TRUE(applied(ask(guard, both(180, 900))));
    world.steps->fail_driver_at = world.steps->driver_calls + call;
    if (applied(ask(guard, both(150, 1005)))) {
      EXPECT_GT(call, 3) << "the request makes that many driver calls at least";
      return;
    }
    EXPECT_EQ(world.gpu().requested, 180) << "driver call " << call;
    EXPECT_EQ(world.gpu().sm, (fake::Lock{true, 900, 900})) << "driver call " << call;
  }
  FAIL() << "the request never succeeded";
}

TEST(Guard, WhatCannotBeAnnouncedIsNotWrittenAndAFullDiskDoesNotStopTheWayBack) {
  World world;
  Guard guard(world.options());
  ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
  ASSERT_TRUE(applied(ask(guard, both(150, 1005))));
  world.steps->fail_file_from = 0;
  EXPECT_EQ(refusal(ask(guard, limit_to(120))), ErrorCode::io);
  EXPECT_EQ(world.gpu().requested, 150);
  EXPECT_EQ(only_report(ask(guard, wire::Release{})).outcome, Restoration::restored);
  EXPECT_EQ(world.gpu().requested, 200);
  EXPECT_FALSE(world.gpu().sm.on);
}

TEST(Guard, ADiskThatIsFullForAWhileLeavesAReadableJournal) {
  World world;
  {
    Guard guard(world.options());
    ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
    world.steps->fail_file_from = 0;
    EXPECT_EQ(refusal(ask(guard, limit_to(120))), ErrorCode::io);
    world.steps->fail_file_from = -1;
    ASSERT_TRUE(applied(ask(guard, limit_to(150))));
  }
  EXPECT_EQ(world.restore_left_behind().value().at(0).outcome, Restoration::restored);
  EXPECT_EQ(world.gpu().requested, 200);
}

TEST(Guard, SomebodyElsesLimitIsReportedAndLeftAlone) {
  World world;
  Guard guard(world.options());
  ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
  ASSERT_TRUE(applied(ask(guard, both(150, 1005))));
  world.gpu().requested = 175;
  EXPECT_EQ(refusal(ask(guard, limit_to(140))), ErrorCode::conflict);
  const auto report = only_report(ask(guard, wire::Release{}));
  EXPECT_EQ(report.outcome, Restoration::left_alone);
  EXPECT_THAT(report.detail, HasSubstr("175 W"));
  EXPECT_EQ(world.gpu().requested, 175);
  EXPECT_FALSE(world.gpu().sm.on) << "the other knob comes back all the same";
}

TEST(Guard, ALimitTheDriverQuietlyRaisedIsStillOurs) {
  World world;
  world.gpu().quietly_at_least = 130;
  Guard guard(world.options());
  ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
  const auto reply = ask(guard, limit_to(110));
  ASSERT_TRUE(applied(reply));
  EXPECT_EQ(std::get<wire::Applied>(reply).requested_limit, 130_W);
  ASSERT_TRUE(applied(ask(guard, limit_to(120))));
  EXPECT_EQ(only_report(ask(guard, wire::Release{})).outcome, Restoration::restored);
  EXPECT_EQ(world.gpu().requested, 200);
}

TEST(Guard, AFoundLimitThatIsNoLongerLegalBecomesTheNearestOne) {
  World world;
  Guard guard(world.options());
  ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
  ASSERT_TRUE(applied(ask(guard, limit_to(150))));
  world.gpu().max = 190;
  const auto report = only_report(ask(guard, wire::Release{}));
  EXPECT_EQ(report.outcome, Restoration::restored);
  EXPECT_THAT(report.detail, HasSubstr("190 W, the nearest to the 200 W"));
  EXPECT_EQ(world.gpu().requested, 190);
}

TEST(Guard, AStatedClockLockIsPutBackInsteadOfAReset) {
  World world;
  world.gpu().sm = {true, 1200, 1200};
  Guard guard(world.options());
  ASSERT_TRUE(granted(ask(
      guard, wire::Acquire{{kGpu}, {Knob::power_limit, Knob::sm_clock}, ClockRange{1200_MHz, 1200_MHz}})));
  ASSERT_TRUE(applied(ask(guard, sm_at(1005))));
  EXPECT_EQ(only_report(ask(guard, wire::Release{})).outcome, Restoration::restored);
  EXPECT_EQ(world.gpu().sm, (fake::Lock{true, 1200, 1200}));
}

TEST(Guard, ALockRubatoNeverTouchedIsNotReset) {
  World world;
  world.gpu().sm = {true, 1200, 1200};
  Guard guard(world.options());
  ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
  ASSERT_TRUE(applied(ask(guard, limit_to(150))));
  EXPECT_EQ(only_report(ask(guard, wire::Release{})).outcome, Restoration::restored);
  EXPECT_TRUE(world.gpu().sm.on);
}

TEST(Guard, AClockLockTheDriverRefusedIsNotReset) {
  World world;
  Guard guard(world.options());
  ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
  world.steps->failure = ErrorCode::no_permission;
  world.steps->fail_driver_at = world.steps->driver_calls + 1;  // limits are read first
  EXPECT_EQ(refusal(ask(guard, sm_at(1005))), ErrorCode::no_permission);
  (void)ask(guard, wire::Release{});
  EXPECT_EQ(world.gpu().writes, 0);
}

TEST(Guard, FiveSecondsOfSilenceRestoreAndTheClientMayComeBack) {
  World world;
  Guard guard(world.options());
  EXPECT_EQ(guard.next_due().ns, std::numeric_limits<std::int64_t>::max());
  ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
  ASSERT_TRUE(applied(ask(guard, limit_to(150))));
  world.clock->advance(4_s);
  EXPECT_EQ(guard.handle(wire::encode({0, wire::Heartbeat{}}), world.clock->now()), "");
  world.clock->advance(4_s);
  guard.step(world.clock->now());
  EXPECT_EQ(world.gpu().requested, 150) << "only four seconds since the heartbeat";
  world.clock->advance(1_s);
  EXPECT_EQ(guard.next_due(), world.clock->now());
  guard.step(world.clock->now());
  EXPECT_EQ(world.gpu().requested, 200);
  const auto late = ask(guard, limit_to(150), world.clock->now());
  EXPECT_EQ(refusal(late), ErrorCode::timeout);
  EXPECT_THAT(std::get<wire::Refused>(late).error.what, HasSubstr("restored"));
  ASSERT_TRUE(granted(ask(guard, kBothKnobs, world.clock->now())));
  EXPECT_TRUE(applied(ask(guard, limit_to(150), world.clock->now())));
}

TEST(Guard, ADriverThatRefusesAtTheEndIsAskedAgainUnderTheLocks) {
  for (const bool told : {true, false}) {
    World world;
    int pauses = 0;
    GuardOptions options = world.options();
    options.pause = [&](Seconds span) {
      EXPECT_EQ(world.gpus[kOther].requested, 200) << "the other GPU does not wait";
      Guard next(world.options());
      EXPECT_EQ(refusal(ask(next, kBothKnobs)), ErrorCode::busy);
      world.clock->advance(span);
      world.gpu().refuses_limits = ++pauses < 7;
    };
    Guard guard(std::move(options));
    ASSERT_TRUE(granted(ask(guard, wire::Acquire{{kGpu, kOther}, {Knob::power_limit}, {}})));
    ASSERT_TRUE(applied(ask(guard, limit_to(150))));
    ASSERT_TRUE(applied(ask(guard, wire::Apply{kOther, Setting{.power_limit = 150_W}})));
    world.gpu().refuses_limits = true;
    const auto reports =
        told ? std::get<wire::Restored>(ask(guard, wire::Release{})).reports : guard.client_gone({});
    ASSERT_EQ(reports.size(), 2U);
    EXPECT_EQ(reports[0].outcome, Restoration::restored) << reports[0].detail;
    EXPECT_EQ(pauses, 7);
    EXPECT_EQ(world.gpu().requested, 200);
    EXPECT_FALSE(std::filesystem::exists(world.journal()));
  }
}

TEST(Guard, ADriverThatRefusesForLongIsGivenUpWithItsJournalKept) {
  World world;
  GuardOptions options = world.options();
  options.pause = [&](Seconds span) { world.clock->advance(span); };
  Guard guard(std::move(options));
  ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
  ASSERT_TRUE(applied(ask(guard, limit_to(150))));
  world.gpu().refuses_limits = true;
  const TimePoint begin = world.clock->now();
  EXPECT_EQ(only_report(ask(guard, wire::Release{}, begin)).outcome, Restoration::failed);
  EXPECT_NEAR((world.clock->now() - begin).value(), kRetryPatience.value(), kRetryPeriod.value());
  EXPECT_TRUE(std::filesystem::exists(world.journal()));
  world.gpu().refuses_limits = false;
  EXPECT_EQ(world.restore_left_behind().value().at(0).outcome, Restoration::restored);
}

TEST(Guard, AClientThatIsGoneIsRestoredAndADestructorWritesNothing) {
  World world;
  {
    Guard guard(world.options());
    ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
    ASSERT_TRUE(applied(ask(guard, limit_to(150))));
    EXPECT_EQ(guard.client_gone({}).at(0).outcome, Restoration::restored);
    EXPECT_EQ(world.gpu().requested, 200);
    ASSERT_TRUE(granted(ask(guard, kBothKnobs)));
    ASSERT_TRUE(applied(ask(guard, limit_to(150))));
  }
  EXPECT_EQ(world.gpu().requested, 150);
  EXPECT_TRUE(std::filesystem::exists(world.journal()));
}

TEST(Guard, AllGpusOfALeaseAreTakenOrNone) {
  World world;
  Guard first(world.options());
  Guard second(world.options());
  ASSERT_TRUE(granted(ask(first, wire::Acquire{{kOther}, {Knob::power_limit}, {}})));
  const auto busy = ask(second, wire::Acquire{{kGpu, kOther}, {Knob::power_limit}, {}});
  EXPECT_EQ(refusal(busy), ErrorCode::busy);
  EXPECT_THAT(std::get<wire::Refused>(busy).error.what, HasSubstr(cat("process ", ::getpid())));
  EXPECT_TRUE(granted(ask(second, wire::Acquire{{kGpu}, {Knob::power_limit}, {}})))
      << "the first was given back";
}

TEST(Guard, AGpuThatCannotBeOpenedLeavesNoJournalOnTheOthers) {
  World world;
  Guard guard(world.options());
  EXPECT_EQ(refusal(ask(guard, wire::Acquire{{kGpu, GpuId{"GPU-z"}}, {Knob::power_limit}, {}})),
            ErrorCode::not_found);
  EXPECT_FALSE(std::filesystem::exists(world.journal()));
}

TEST(Guard, BadLeasesAreRefused) {
  World world;
  Guard guard(world.options());
  EXPECT_EQ(refusal(ask(guard, wire::Acquire{{}, {Knob::power_limit}, {}})), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(ask(guard, wire::Acquire{{kGpu, kGpu}, {Knob::power_limit}, {}})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(ask(guard, wire::Acquire{{GpuId{"../GPU"}}, {}, {}})), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(ask(guard, wire::Welcome{})), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(wire::decode(guard.handle("nonsense", {})).value().body), ErrorCode::corrupt);
}

TEST(Guard, WithATokenNothingIsDoneBeforeTheHelloThatCarriesIt) {
  World world;
  GuardOptions options = world.options();
  options.token = "secret";
  Guard guard(std::move(options));
  EXPECT_EQ(refusal(ask(guard, kBothKnobs)), ErrorCode::no_permission);
  EXPECT_EQ(refusal(ask(guard, wire::Hello{"x", "guess"})), ErrorCode::no_permission);
  EXPECT_TRUE(std::holds_alternative<wire::Welcome>(ask(guard, wire::Hello{"x", "secret"})));
  EXPECT_TRUE(granted(ask(guard, kBothKnobs)));
}

}  // namespace
}  // namespace rubato::guard
