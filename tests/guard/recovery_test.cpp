// What the next process makes of a journal whose guard died.
#include <gmock/gmock.h>

#include <limits>

#include "base/text.h"
#include "guard/crc32.h"
#include "guard/guard_world.h"
#include "guard/recover.h"

namespace rubato::guard {
namespace {

using fake::ask;
using fake::both;
using fake::kBothKnobs;
using fake::kGpu;
using fake::kOther;
using fake::limit_to;
using fake::World;
using ::testing::HasSubstr;

/// A guard that sets 150 W and 1005 MHz on a GPU found at 200 W, and dies.
void die_at_150_watts(World& world) {
  Guard guard(world.options());
  (void)ask(guard, kBothKnobs);
  ASSERT_TRUE(std::holds_alternative<wire::Applied>(ask(guard, both(150, 1005))));
}

TEST(Recovery, TheNextLeaseFirstPutsBackWhatADeadRunLeft) {
  World world;
  die_at_150_watts(world);
  Guard next(world.options());
  const auto reply = ask(next, kBothKnobs);
  const auto& found = std::get<wire::Granted>(reply).found.at(0);
  EXPECT_EQ(found.limits.requested, 200_W);
  EXPECT_THAT(found.note, HasSubstr("put back what a dead run left behind"));
  EXPECT_EQ(world.gpu().requested, 200);
  EXPECT_FALSE(world.gpu().sm.on);
}

TEST(Recovery, AJournalTornAtAnyByteBringsBackWhatWasFound) {
  World first;
  die_at_150_watts(first);
  const std::string whole = first.journal_bytes();
  const auto header_end = whole.find('\n') + 1;
  ASSERT_GT(whole.size(), 300U);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    World world;
    std::filesystem::create_directory(world.folder);
    std::filesystem::permissions(world.folder, std::filesystem::perms(0700));
    // The write a torn line announced was not made: the state is that of the last whole announcement.
    const auto content = parse_journal(whole.substr(0, size), kGpu);
    ASSERT_TRUE(content.has_value()) << "torn at byte " << size << ": " << content.error().what;
    ASSERT_EQ(content->has_value(), size >= header_end);
    const bool limit_announced = *content && (*content)->limit && (*content)->limit->touched;
    const bool lock_announced = *content && (*content)->sm_clock && (*content)->sm_clock->touched;
    for (const bool last_write_made : {false, true}) {
      world.gpu() = {};
      if (limit_announced && (lock_announced || last_write_made)) world.gpu().requested = 150;
      if (lock_announced && last_write_made) world.gpu().sm = {true, 1005, 1005};
      world.write_journal(whole.substr(0, size));
      const auto reports = world.restore_left_behind();
      ASSERT_TRUE(reports.has_value());
      EXPECT_EQ(world.gpu().requested, 200) << "torn at byte " << size;
      EXPECT_FALSE(world.gpu().sm.on) << "torn at byte " << size;
      EXPECT_FALSE(std::filesystem::exists(world.journal())) << "torn at byte " << size;
    }
  }
}

TEST(Recovery, AFlippedByteAnywhereIsReportedAndTheFileKeptAside) {
  World first;
  die_at_150_watts(first);
  const std::string whole = first.journal_bytes();
  for (std::size_t at = 0; at + 1 < whole.size(); at += 7) {
    World world;
    std::filesystem::create_directory(world.folder);
    std::filesystem::permissions(world.folder, std::filesystem::perms(0700));
    std::string damaged = whole;
    damaged[at] = damaged[at] == '#' ? '$' : '#';
    world.write_journal(damaged);
    const auto reports = world.restore_left_behind().value();
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].outcome, Restoration::failed);
    EXPECT_THAT(reports[0].detail, HasSubstr("GPU-a.corrupt"));
    EXPECT_EQ(std::filesystem::file_size(world.folder / "GPU-a.corrupt"), whole.size());
    EXPECT_EQ(world.gpu().writes, 0);
  }
}

TEST(Recovery, ASecondDamagedJournalDoesNotReplaceTheFirst) {
  World world;
  die_at_150_watts(world);
  world.write_journal("damaged\n");
  ASSERT_EQ(world.restore_left_behind().value().size(), 1U);
  world.write_journal("again\n");
  ASSERT_EQ(world.restore_left_behind().value().size(), 1U);
  EXPECT_EQ(std::filesystem::file_size(world.folder / "GPU-a.corrupt"), 8U);
  EXPECT_EQ(std::filesystem::file_size(world.folder / "GPU-a.corrupt-2"), 6U);
}

TEST(Recovery, ADamagedJournalDoesNotStopTheNextLeaseWhichSaysSo) {
  World world;
  die_at_150_watts(world);
  world.write_journal("damaged\n");
  Guard next(world.options());
  const auto reply = ask(next, kBothKnobs);
  ASSERT_TRUE(std::holds_alternative<wire::Granted>(reply));
  EXPECT_THAT(std::get<wire::Granted>(reply).found.at(0).note, HasSubstr("damaged"));
}

TEST(Recovery, AnotherBootOrDriverOrAResetVoidsTheJournal) {
  for (const int cause : {0, 1, 2}) {
    World world;
    die_at_150_watts(world);
    const int writes = world.gpu().writes;
    if (cause == 0) world.set_boot_id("boot-2");
    if (cause == 1) world.driver_version = "560.0";
    if (cause == 2) {
      world.gpu().energy_j = 1;
      world.gpu().requested = world.gpu().max;  // the driver's default
    }
    const auto reports = world.restore_left_behind().value();
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].outcome, Restoration::left_alone);
    EXPECT_EQ(world.gpu().writes, writes);
    EXPECT_FALSE(std::filesystem::exists(world.journal()));
  }
}

// A counter that lies, in the header or now, and a limit of ours in force: no reset leaves that.
TEST(Recovery, ACounterThatFellBringsBackWhatWasFoundWhereOurLimitStands) {
  for (const bool for_good : {false, true}) {
    World world;
    die_at_150_watts(world);
    if (for_good)
      world.gpu().energy_j = 1;
    else
      world.gpu().absurd_energy = {1, 1};
    EXPECT_EQ(world.restore_left_behind().value().at(0).outcome, Restoration::restored);
    EXPECT_EQ(world.gpu().requested, 200);
    EXPECT_FALSE(world.gpu().sm.on);
  }
}

TEST(Recovery, OneWrongReadingIsNoReset) {
  World world;
  die_at_150_watts(world);
  world.gpu().requested = world.gpu().max;  // by somebody, without a reset: the lock stands
  world.gpu().absurd_energy = {1, 1};
  EXPECT_EQ(world.restore_left_behind().value().at(0).outcome, Restoration::left_alone);
  EXPECT_EQ(world.gpu().requested, world.gpu().max);
  EXPECT_FALSE(world.gpu().sm.on);
}

TEST(Recovery, AReadingThatIsTooHighDoesNotReachTheHeader) {
  World world;
  world.gpu().absurd_energy = {1, 1e9};
  die_at_150_watts(world);
  const auto content = parse_journal(world.journal_bytes(), kGpu);
  EXPECT_EQ(content->value().header.energy_mj, 1'000'000);
}

// Nothing but the counter could tell a reset, and to unlock what is unlocked does no harm.
TEST(Recovery, ClocksAreUnlockedWhateverTheCounterSays) {
  World world;
  {
    Guard guard(world.options());
    (void)ask(guard, wire::Acquire{{kGpu}, {Knob::sm_clock}, {}});
    ASSERT_TRUE(std::holds_alternative<wire::Applied>(ask(guard, fake::sm_at(1005))));
  }
  world.gpu().energy_j = 1;
  EXPECT_EQ(world.restore_left_behind().value().at(0).outcome, Restoration::restored);
  EXPECT_FALSE(world.gpu().sm.on);
}

TEST(Recovery, WhetherALeaseStillStandsIsJudgedByCounterAndLimit) {
  Header header{kGpu, "boot-1", "550.1", 1'000'000};
  JournalContent written{.header = header};
  fake::State state{.requested = 150, .energy_j = 1};
  fake::Steps steps;
  fake::Gpu gpu(kGpu, state, steps);
  const Era now{"boot-1", "550.1"};
  EXPECT_TRUE(counter_fell(header, gpu));
  EXPECT_FALSE(why_void(written, now, gpu)) << "no limit was touched";
  ASSERT_TRUE(enter(written, LimitIntent{200_W, 200_W, 150_W}));
  EXPECT_FALSE(why_void(written, now, gpu)) << "the limit is ours";
  state.requested = 175;
  EXPECT_FALSE(why_void(written, now, gpu)) << "neither ours nor the driver's default";
  state.requested = 250;
  EXPECT_TRUE(why_void(written, now, gpu));
  state.energy_j = 1000;
  EXPECT_FALSE(counter_fell(header, gpu));
  EXPECT_FALSE(why_void(written, now, gpu));
  EXPECT_TRUE(why_void(written, {"boot-2", "550.1"}, gpu));
  EXPECT_TRUE(why_void(written, {"boot-1", "560.0"}, gpu));
}

TEST(Recovery, SomebodyElsesLimitStandsAndTheJournalIsDone) {
  World world;
  die_at_150_watts(world);
  world.gpu().requested = 175;
  const auto reports = world.restore_left_behind().value();
  EXPECT_EQ(reports.at(0).outcome, Restoration::left_alone);
  EXPECT_THAT(reports.at(0).detail, HasSubstr("175 W"));
  EXPECT_EQ(world.gpu().requested, 175);
  EXPECT_FALSE(world.gpu().sm.on);
  EXPECT_FALSE(std::filesystem::exists(world.journal()));
}

TEST(Recovery, AGpuThatIsNotHereKeepsItsJournalAndTheOthersAreRestored) {
  World world;
  die_at_150_watts(world);
  const auto state = world.gpus.extract(kGpu);
  {
    Guard guard(world.options());
    (void)ask(guard, wire::Acquire{{kOther}, {Knob::power_limit}, {}});
    (void)ask(guard, wire::Apply{kOther, Setting{.power_limit = 120_W}});
  }
  const auto reports = world.restore_left_behind().value();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].outcome, Restoration::failed);
  EXPECT_THAT(reports[0].detail, HasSubstr("journal is kept"));
  EXPECT_TRUE(std::filesystem::exists(world.journal()));
  EXPECT_EQ(reports[1].outcome, Restoration::restored);
  EXPECT_EQ(world.gpus[kOther].requested, 200);
}

TEST(Recovery, AGpuInTheHandsOfALivingGuardIsNotTouched) {
  World world;
  Guard guard(world.options());
  (void)ask(guard, kBothKnobs);
  (void)ask(guard, limit_to(150));
  EXPECT_TRUE(world.restore_left_behind().value().empty());
  EXPECT_EQ(world.gpu().requested, 150);
  EXPECT_EQ(journals_in(world.folder).value(), std::vector<GpuId>{kGpu});
}

/// A lease of many settings; the number of the step before the journal was first put anew, or -1.
int live_long(World& world, int settings) {
  Guard guard(world.options());
  (void)ask(guard, kBothKnobs);
  std::uintmax_t longest = 0;
  for (int i = 0; i < settings && !world.steps->dead; ++i) {
    const int before = world.steps->taken;
    (void)ask(guard, fake::both(i % 2 == 0 ? 150 : 140, 1005));
    std::error_code gone;
    const auto size = std::filesystem::file_size(world.journal(), gone);
    if (size < longest) return before;
    longest = size;
  }
  return -1;
}

constexpr int kManySettings = 4000;

TEST(Recovery, TheJournalOfALongLeaseStaysShortAndStillBringsBackWhatWasFound) {
  World world;
  world.steps->crash_at =
      std::numeric_limits<int>::max();  // steps are counted only where one is to be the last
  ASSERT_GT(live_long(world, kManySettings), 0) << "the journal was never put anew";
  EXPECT_LT(std::filesystem::file_size(world.journal()), 2048U);
  EXPECT_NE(world.gpu().requested, 200);
  world.revive();
  EXPECT_EQ(world.restore_left_behind().value().at(0).outcome, Restoration::restored);
  EXPECT_EQ(world.gpu().requested, 200);
  EXPECT_FALSE(world.gpu().sm.on);
}

TEST(Recovery, DeathWhileALongJournalIsPutAnewIsRecoveredFrom) {
  World first;
  first.steps->crash_at = std::numeric_limits<int>::max();
  const int at = live_long(first, kManySettings);
  ASSERT_GT(at, 0);
  int step = at;
  for (;; ++step) {
    World world;
    world.steps->crash_at = step;
    world.steps->torn_share = 0.5;
    (void)live_long(world, kManySettings);
    if (!world.steps->dead) break;  // the setting at which it was put anew is over
    world.revive();
    ASSERT_TRUE(world.restore_left_behind().has_value());
    EXPECT_EQ(world.gpu().requested, 200) << "step " << step - at;
    EXPECT_FALSE(world.gpu().sm.on) << "step " << step - at;
  }
  EXPECT_GT(step - at, 8) << "a journal put anew takes more steps than that";
}

TEST(Recovery, NoFolderMeansNothingWasLeftBehind) {
  World world;
  EXPECT_TRUE(world.restore_left_behind().value().empty());
  EXPECT_TRUE(journals_in(world.folder).value().empty());
}

TEST(Recovery, ANewerJournalIsLeftForTheVersionThatWroteIt) {
  World world;
  die_at_150_watts(world);
  const std::string text = "header version=3 shape=unknown";
  const std::string bytes = cat(hex(crc32(text), 8), " ", text, "\n");
  world.write_journal(bytes);
  EXPECT_EQ(world.restore_left_behind().value().at(0).outcome, Restoration::failed);
  EXPECT_EQ(world.journal_bytes(), bytes);
  Guard next(world.options());
  EXPECT_EQ(fake::refusal(ask(next, kBothKnobs)), ErrorCode::not_supported);
}

}  // namespace
}  // namespace rubato::guard
