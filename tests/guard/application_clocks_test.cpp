// Application clocks have a getter, so what was found comes back exactly.
#include <gmock/gmock.h>

#include "base/text.h"
#include "guard/crc32.h"
#include "guard/guard_world.h"

namespace rubato::guard {
namespace {

using fake::application_at;
using fake::ask;
using fake::kAllKnobs;
using fake::kGpu;
using fake::only_report;
using fake::Pair;
using fake::refusal;
using fake::World;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Pair kFound{877, 1200};  // not the driver's default, which is 1380 MHz

const wire::Applied& applied(const wire::Body& body) {
  const auto* reply = std::get_if<wire::Applied>(&body);
  EXPECT_NE(reply, nullptr) << "the guard refused: " << std::get<wire::Refused>(body).error.what;
  static const wire::Applied none;
  return reply == nullptr ? none : *reply;
}

TEST(ApplicationClocks, AcquiringReadsThemAndWritesNothing) {
  World world;
  Guard guard(world.options());
  const auto reply = ask(guard, kAllKnobs);
  EXPECT_EQ(std::get<wire::Granted>(reply).found.at(0).application_clocks,
            (ApplicationClocks{877_MHz, 1200_MHz}));
  EXPECT_EQ(world.gpu().writes, 0);
  EXPECT_THAT(world.journal_bytes(), HasSubstr("found=877:1200"));
}

TEST(ApplicationClocks, WhatWasFoundComesBackEvenWhereItIsNotTheDefault) {
  World world;
  Guard guard(world.options());
  (void)ask(guard, kAllKnobs);
  EXPECT_EQ(applied(ask(guard, application_at(877, 900))).application_clocks,
            (ApplicationClocks{877_MHz, 900_MHz}));
  EXPECT_EQ(world.gpu().application, (Pair{877, 900}));
  const auto report = only_report(ask(guard, wire::Release{}));
  EXPECT_EQ(report.outcome, Restoration::restored);
  EXPECT_THAT(report.detail, HasSubstr("application clocks SM 1200 MHz memory 877 MHz (were SM 900 MHz"));
  EXPECT_EQ(world.gpu().application, kFound);
  EXPECT_EQ(world.gpu().application_resets, 0);
}

TEST(ApplicationClocks, TheDriversResetIsUsedWhereItsDefaultsWereFound) {
  World world;
  world.gpu().application = world.gpu().application_default;
  Guard guard(world.options());
  (void)ask(guard, kAllKnobs);
  (void)applied(ask(guard, application_at(877, 900)));
  EXPECT_EQ(only_report(ask(guard, wire::Release{})).outcome, Restoration::restored);
  EXPECT_EQ(world.gpu().application, world.gpu().application_default);
  EXPECT_EQ(world.gpu().application_resets, 1);
}

TEST(ApplicationClocks, NotHeldTheyAreNeitherReadNorJournaledNorWritten) {
  World world;
  Guard guard(world.options());
  (void)ask(guard, fake::kBothKnobs);
  EXPECT_EQ(refusal(ask(guard, application_at(877, 900))), ErrorCode::no_permission);
  EXPECT_EQ(world.gpu().writes, 0);
  EXPECT_THAT(world.journal_bytes().substr(9), StartsWith("header version=1 "));
}

TEST(ApplicationClocks, APairTheGpuDoesNotHaveIsRefused) {
  World world;
  Guard guard(world.options());
  (void)ask(guard, kAllKnobs);
  for (const auto& pair : {application_at(1215, 900), application_at(877, 901), application_at(800, 900),
                           application_at(0, 900), application_at(877, -1)})
    EXPECT_EQ(refusal(ask(guard, pair)), ErrorCode::invalid_argument);
  (void)applied(ask(guard, application_at(1215, 1005)));
  EXPECT_FALSE(world.gpu().illegal);
}

TEST(ApplicationClocks, SomebodyElsesPairStandsAndIsReported) {
  World world;
  Guard guard(world.options());
  (void)ask(guard, kAllKnobs);
  (void)applied(ask(guard, application_at(877, 900)));
  world.gpu().application = {877, 135};
  EXPECT_EQ(refusal(ask(guard, application_at(877, 1005))), ErrorCode::conflict);
  const auto report = only_report(ask(guard, wire::Release{}));
  EXPECT_EQ(report.outcome, Restoration::left_alone);
  EXPECT_THAT(report.detail, HasSubstr("SM 135 MHz"));
  EXPECT_EQ(world.gpu().application, (Pair{877, 135}));
}

TEST(ApplicationClocks, ARequestThatFailsHalfWayIsUndoneWhole) {
  const wire::Apply request{
      kGpu, Setting{.power_limit = 150_W, .application_clocks = ApplicationClocks{877_MHz, 1005_MHz}}};
  for (int call = 0; call < 30; ++call) {
    World world;
    Guard guard(world.options());
    (void)ask(guard, kAllKnobs);
    (void)applied(ask(guard, application_at(877, 900)));
    world.steps->fail_driver_at = world.steps->driver_calls + call;
    if (std::holds_alternative<wire::Applied>(ask(guard, request))) {
      EXPECT_GT(call, 5) << "the request makes that many driver calls at least";
      return;
    }
    EXPECT_EQ(world.gpu().requested, 200) << "driver call " << call;
    EXPECT_EQ(world.gpu().application, (Pair{877, 900})) << "driver call " << call;
  }
  FAIL() << "the request never succeeded";
}

TEST(ApplicationClocks, AGpuWithoutThemRefusesTheLeaseAndLeavesNoJournal) {
  World world;
  world.steps->fail_driver_at = 3;  // behind the limits and two looks at the energy counter
  world.steps->failure = ErrorCode::not_supported;
  Guard guard(world.options());
  EXPECT_EQ(refusal(ask(guard, kAllKnobs)), ErrorCode::not_supported);
  EXPECT_FALSE(std::filesystem::exists(world.journal()));
}

TEST(ApplicationClocks, ADeadGuardsPairIsPutBackByTheNext) {
  World world;
  {
    Guard guard(world.options());
    (void)ask(guard, kAllKnobs);
    (void)applied(ask(guard, application_at(877, 900)));
  }
  EXPECT_THAT(world.journal_bytes().substr(9), StartsWith("header version=2 "));
  const auto reports = world.restore_left_behind().value();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].outcome, Restoration::restored);
  EXPECT_EQ(world.gpu().application, kFound);
}

TEST(ApplicationClocks, JournalRecordsSurviveTheRoundTrip) {
  const ApplicationClocks found{Megahertz(877), Megahertz(1207.5)};
  const ApplicationClocks intended{Megahertz(877), Megahertz(900)};
  const std::string text = print_record(Header{kGpu, "boot", "550.1", 7, kWithApplicationClocks}) +
                           print_record(ApplicationIntent{found, found, intended}) +
                           print_record(ApplicationDone{intended});
  const auto content = parse_journal(text, kGpu).value().value();
  EXPECT_EQ(content.header.version, kWithApplicationClocks);
  ASSERT_TRUE(content.application_clocks);
  EXPECT_EQ(content.application_clocks->last.found, found);
  EXPECT_EQ(content.application_clocks->last.previous, found);
  EXPECT_EQ(content.application_clocks->last.intended, intended);
  EXPECT_EQ(content.application_clocks->read_back, intended);
  EXPECT_TRUE(content.application_clocks->touched);
  for (const char* bad :
       {"application-clocks found=877 previous=877:900 intended=877:900",
        "application-clocks-done read-back=nan:900", "application-clocks-done read-back=877:900"}) {
    const std::string line = print_record(Header{kGpu, "boot", "550.1", 7, 2}) +
                             cat(hex(crc32(std::string_view(bad)), 8), " ", bad, "\n");
    EXPECT_EQ(parse_journal(line, kGpu).error().code, ErrorCode::corrupt) << bad;
  }
}

// As version 0.1 wrote it, byte for byte.
constexpr std::string_view kOldJournal[] = {
    "header version=1 uuid=GPU-a boot=boot-1 driver=550.1 energy-mj=1000000",
    "limit found=200 previous=200 intended=200",
    "limit-done read-back=200",
    "sm-clock found=- previous=- intended=-",
    "sm-clock-done state=-",
    "limit found=200 previous=200 intended=150",
    "limit-done read-back=150",
    "sm-clock found=- previous=- intended=1005:1005"};

TEST(ApplicationClocks, AJournalOfTheFirstVersionIsStillPutBack) {
  World world;
  std::filesystem::create_directory(world.folder);
  std::filesystem::permissions(world.folder, std::filesystem::perms(0700));
  std::string bytes;
  for (const std::string_view line : kOldJournal) bytes += cat(hex(crc32(line), 8), " ", line, "\n");
  world.write_journal(bytes);
  world.gpu().requested = 150;
  world.gpu().sm = {true, 1005, 1005};
  EXPECT_EQ(world.restore_left_behind().value().at(0).outcome, Restoration::restored);
  EXPECT_EQ(world.gpu().requested, 200);
  EXPECT_FALSE(world.gpu().sm.on);
  EXPECT_EQ(world.gpu().application, kFound);
}

}  // namespace
}  // namespace rubato::guard
