#include "cli/report/worth_knowing.h"

#include <gmock/gmock.h>

#include "analyse/made_run.h"

namespace rubato::cli {
namespace {

using namespace analyse::testing_data;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kLate = "Tesla V100-PCIE-16GB: rubato itself came late, readings are due every 20 ms";

// 100 s on sensors that update every 20 ms: ten updates are 0.2 s, a hundredth of the run is 1 s.
record::RunRecord run_of(int gpus = 1) {
  return MadeRun(gpus, Kind::measured).idle(BlockRole::baseline, 100_s, 60_W).ended();
}

void lose(record::RunRecord& run, Seconds at, Seconds length, const char* why, std::size_t gpu = 0) {
  run.gaps.push_back({kBegin + at, kBegin + (at + length), run.devices[gpu].info.identity.id, why});
}

std::vector<std::string> told(const record::RunRecord& run) {
  std::vector<std::string> lines;
  for (const Event& event : worth_knowing(run, analyse::summarise(run))) lines.push_back(event.what);
  return lines;
}

TEST(WorthKnowing, GapsOfOneReasonAreOneLinePerGpu) {
  record::RunRecord run = run_of(2);
  for (int i = 0; i < 8; ++i) lose(run, 10_s * i, 0.15_s, kLate, 0);
  for (int i = 0; i < 2; ++i) lose(run, 10_s * i, 1_s, kLate, 1);
  EXPECT_THAT(told(run),
              ElementsAre("GPU 0: nothing recorded 8 times, 1.20 s together (of 1 min 40 s): rubato "
                          "itself came late, readings are due every 20 ms",
                          "GPU 1: nothing recorded 2 times, 2.00 s together (of 1 min 40 s): rubato "
                          "itself came late, readings are due every 20 ms"));
}

TEST(WorthKnowing, GapsThatAreShortAndFewAreNotTold) {
  record::RunRecord run = run_of();
  for (int i = 0; i < 6; ++i) lose(run, 10_s * i, 0.15_s, kLate);
  EXPECT_THAT(told(run), IsEmpty());
}

TEST(WorthKnowing, OneLongGapIsTold) {
  record::RunRecord run = run_of();
  lose(run, 5_s, 0.5_s, "the driver did not answer");
  EXPECT_THAT(told(run),
              ElementsAre("GPU 0: nothing recorded for 0.50 s (of 1 min 40 s): the driver did not answer"));
}

TEST(WorthKnowing, ShortGapsOfSeveralReasonsAddUp) {
  record::RunRecord run = run_of();
  for (int i = 0; i < 4; ++i) lose(run, 10_s * i, 0.15_s, "one");
  for (int i = 0; i < 4; ++i) lose(run, 10_s * i + 5_s, 0.15_s, "other");
  EXPECT_THAT(told(run), testing::SizeIs(2));
}

TEST(WorthKnowing, AStopOfTheWholeProcessNamesNoGpu) {
  record::RunRecord run = run_of();
  run.gaps = {{kBegin + 10_s, kBegin + 20_s, std::nullopt, "rubato was stopped"}};
  EXPECT_THAT(told(run),
              ElementsAre("all GPUs: nothing recorded for 10.0 s (of 1 min 40 s): rubato was stopped"));
}

TEST(WorthKnowing, AMetersGapIsToldInItsWordsAndJudgedByItsOwnPace) {
  record::RunRecord run = run_of();
  run.channels = {{.info = {"snmp:rack", {.name = "outlet-7"}}, .readings = {}},
                  {.info = {"rapl", {.name = "package-0"}}, .readings = {}}};
  run.channels[0].info.channel.sensor.update_period = 5_s;
  run.channels[1].info.channel.sensor.update_period = 20_ms;
  run.gaps = {{kBegin, kBegin + 0.9_s, std::nullopt, "meter snmp:rack told nothing", 0},
              {kBegin, kBegin + 0.9_s, std::nullopt, "meter rapl told nothing", 1}};
  EXPECT_THAT(told(run), ElementsAre("meter rapl told nothing, for 0.90 s (of 1 min 40 s)"));
}

TEST(WorthKnowing, ARestorationThatWentWellIsNotTold) {
  record::RunRecord run = run_of();
  const GpuId gpu = run.devices[0].info.identity.id;
  const auto guard = [&](const char* outcome) {
    run.setting_changes = {{kBegin + 100_s, gpu, "guard", {}, {}, {}, {}, outcome}};
    return told(run);
  };
  EXPECT_THAT(guard("restored: power limit 200 W (was 150 W)"), IsEmpty());
  EXPECT_THAT(guard("not_needed"), IsEmpty());
  EXPECT_THAT(guard("failed: the driver refused 200 W"),
              ElementsAre("guard, GPU 0: failed: the driver refused 200 W"));
}

TEST(WorthKnowing, SomebodyElsesChangeAndARefusalAreTold) {
  record::RunRecord run = run_of();
  const GpuId gpu = run.devices[0].info.identity.id;
  const Setting theirs{.power_limit = 120_W};
  const Setting ours{.power_limit = 150_W};
  run.setting_changes = {{kBegin + 40_s, gpu, "someone else", {}, theirs, {}, {}, "left alone"},
                         {kBegin + 10_s, gpu, "rubato", ours, {}, {}, {}, "refused: no permission"},
                         {kBegin + 5_s, gpu, "rubato", ours, ours, {}, {}, "applied"}};
  EXPECT_THAT(told(run), ElementsAre("rubato, GPU 0: 150 W, refused: no permission",
                                     "someone else, GPU 0: 120 W, left alone"));
}

}  // namespace
}  // namespace rubato::cli
