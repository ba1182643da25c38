#include "cli/report/run_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "analyse/made_run.h"
#include "base/text.h"
#include "golden.h"
#include "report/layout.h"

namespace rubato::cli {
namespace {

using namespace analyse::testing_data;
using report::render_json;
using report::TextOptions;
using report::width_of;
using testing::HasSubstr;
using testing::Not;
using testing_data::expect_golden;

record::RunRecord saving_run() {
  MadeRun made;
  made.idle(BlockRole::warmup, 20_s, 50_W);
  made.block(BlockRole::baseline, 40, 1_s, 200_W, 0.01);
  made.block(BlockRole::hold, 80, 1.2_s, 125_W, 0.01);
  made.block(BlockRole::control, 10, 1_s, 200_W, 0.01);
  record::RunRecord run = made.ended();
  const GpuId gpu = run.devices[0].info.identity.id;
  const Setting held{.power_limit = 150_W};
  run.decisions = {
      {kBegin, "wait", {}, "The job is starting; nothing is judged yet."},
      {kBegin + 20_s, "baseline", {}, "Iterations run evenly: measuring what the job costs as it was found."},
      {kBegin + 60_s, "hold", held, "You asked for a power limit of 150 W."},
      {kBegin + 156_s, "control", {}, "A short look whether the baseline still holds."}};
  run.setting_changes = {{kBegin + 60_s, gpu, "rubato", held, held, 150_W, 1110_MHz, "applied"}};
  return run;
}

/// Two settings tried, one held.
record::RunRecord searched_run() {
  MadeRun made;
  made.idle(BlockRole::warmup, 20_s, 50_W);
  made.block(BlockRole::baseline, 60, 1_s, 200_W, 0.01);
  made.trying({.power_limit = 120_W}).block(BlockRole::trial, 10, 1.5_s, 110_W, 0.01);
  made.trying({.power_limit = 160_W}).block(BlockRole::trial, 10, 1.1_s, 140_W, 0.01);
  made.trying({}).block(BlockRole::hold, 300, 1.04_s, 150_W, 0.01);
  record::RunRecord run = made.ended();
  run.decisions = {
      {kBegin, "strategy", {}, "rubato chooses among a power limit of 100 to 200 W (101 values)"},
      {kBegin + 20_s, "baseline", {}, "measuring what the job costs as it was found"},
      {kBegin + 80_s, "trial", {.power_limit = 120_W}, "the physical curve expects most here"},
      {kBegin + 95_s, "trial", {.power_limit = 160_W}, "120 W was too slow"},
      {kBegin + 106_s, "hold", {.power_limit = 150_W}, "it saves most inside the bound"}};
  return run;
}

record::RunRecord measured_run() {
  MadeRun made(2, Kind::measured);
  made.idle(BlockRole::baseline, 50_s, 60_W);
  record::RunRecord run = made.ended();
  run.info.mode = "measure";
  run.info.command = {"python3", "-c", "print(\"any command\")"};
  run.end->exit_code.reset();
  run.end->exit_signal = 9;
  for (auto& d : run.end->devices) {
    d.requested.reset();
    d.restoration = Restoration::not_needed;
    d.restoration_detail.clear();
  }
  run.gaps = {{kBegin + 10_s, kBegin + 12_s, run.devices[1].info.identity.id, "the driver did not answer"}};
  return run;
}

std::string text(const record::RunRecord& run, const TextOptions& options = {}) {
  return run_report_text(run, analyse::summarise(run), options);
}
std::string json(const record::RunRecord& run) {
  return render_json(run_report_json(run, analyse::summarise(run)));
}

TEST(RunReport, OfARunThatSavedReadsLikeThis) {
  expect_golden(text(saving_run()), "run.txt");
  expect_golden(json(saving_run()), "run.json");
}

TEST(RunReport, OfAMeasurementReadsLikeThis) {
  expect_golden(text(measured_run()), "measure.txt");
  expect_golden(json(measured_run()), "measure.json");
}

TEST(RunReport, ASearchIsToldWithItsTriesAndCountsInTheWholeRun) {
  expect_golden(text(searched_run()), "search.txt");
  expect_golden(json(searched_run()), "search.json");
}

TEST(RunReport, InBriefASearchIsOneSentence) {
  const record::RunRecord run = searched_run();
  const std::string brief = run_report_text(run, analyse::summarise(run), {}, false, {}, Detail::brief);
  EXPECT_THAT(brief, HasSubstr("2 settings were tried in 26"));
  EXPECT_THAT(brief, Not(HasSubstr("Tried, against")));
}

TEST(RunReport, SaysWhatWasSavedOfWhatWasToBecomeSmall) {
  record::RunRecord run = searched_run();
  EXPECT_THAT(text(run), Not(HasSubstr("EDP")));
  run.goal = record::GoalInForce{.at = kBegin, .strategy = "rubato", .goal = {.objective = Objective::edp}};
  EXPECT_THAT(text(run),
              HasSubstr("Energy times time (EDP), which was to become small: 18.9 % less (17.3 to"));
  run.goal->goal.objective = Objective::ed2p;
  EXPECT_THAT(text(run),
              HasSubstr("Energy times time squared (ED2P), which was to become small: 15.6 % less"));
}

TEST(RunReport, WithoutAControlBlockSaysThatWarmingUpIsNotInTheRanges) {
  EXPECT_THAT(text(saving_run()), Not(HasSubstr("There was no control block")));
  MadeRun made;
  made.block(BlockRole::baseline, 40, 1_s, 200_W, 0.01);
  made.block(BlockRole::hold, 80, 1.2_s, 125_W, 0.01);
  EXPECT_THAT(text(made.ended()), HasSubstr("There was no control block"));
  made.block(BlockRole::baseline, 40, 1_s, 200_W, 0.01);
  EXPECT_THAT(text(made.ended()), Not(HasSubstr("There was no control block")))
      << "found and held in turns: the baseline is not early";
}

TEST(RunReport, WhereThereWasNoJobNoneRunsOn) {
  record::RunRecord run = measured_run();
  run.info.command.clear();
  run.end->exit_signal.reset();
  EXPECT_THAT(text(run), Not(HasSubstr("the job runs on")));
}

TEST(RunReport, FitsIntoEightyColumns) {
  for (const auto& run : {saving_run(), measured_run()})
    for (const std::string& line : split(text(run), '\n')) EXPECT_LE(width_of(line), 80U) << line;
}

TEST(RunReport, HasColourOnlyWhenAsked) {
  EXPECT_THAT(text(saving_run()), Not(HasSubstr("\x1b")));
  EXPECT_THAT(text(saving_run(), {.colour = true}), HasSubstr("\x1b[1;32m"));
}

TEST(RunReport, NeverPrintsMissingEnergyAsZero) {
  record::RunRecord run = measured_run();
  for (auto& d : run.end->devices) d.energy.reset();
  for (auto& d : run.devices) d.fast.clear();
  const auto parsed = nlohmann::json::parse(json(run));
  EXPECT_TRUE(parsed["gpus"][0]["energy_j"].is_null());
  EXPECT_TRUE(parsed["gpus"][0]["mean_power_w"].is_null());
  EXPECT_TRUE(parsed["energy_j"].is_null());
  EXPECT_THAT(text(run), HasSubstr("unknown: the GPU gave no power reading"));
}

TEST(RunReport, HasTheKeysThatOtherToolsRead) {
  const auto run = nlohmann::json::parse(json(saving_run()));
  EXPECT_EQ(run["schema"], "rubato.run/1");
  EXPECT_EQ(run["exit_status"]["code"], 0);
  EXPECT_EQ(nlohmann::json::parse(json(measured_run()))["exit_status"]["signal"], 9);
  for (const char* key : {"run_id", "command", "duration_s", "gpus"}) EXPECT_TRUE(run.contains(key)) << key;
  const auto& gpu = run["gpus"][0];
  for (const char* key :
       {"uuid", "name", "quality", "energy_j", "energy_band_sampling_j", "energy_band_calibration_j",
        "energy_source", "mean_power_w", "found", "requested", "restoration"})
    EXPECT_TRUE(gpu.contains(key)) << key;
  EXPECT_EQ(gpu["found"]["power_limit_w"], 200.0);
  EXPECT_EQ(gpu["requested"]["power_limit_w"], 150.0);
  EXPECT_EQ(gpu["restoration"], "restored");
  EXPECT_EQ(gpu["quality"], "modelled");
}

TEST(RunReport, HasTheOwnCostThatTheBenchmarkReads) {
  record::RunRecord run = saving_run();
  run.info.clock_rate = 10;
  run.end->end = run.info.begin + 100_s;
  const auto cost = nlohmann::json::parse(json(run))["own_cost"];
  EXPECT_EQ(cost["wall_s"], 10.0);
  EXPECT_EQ(cost["cpu_s"], 0.04);
  EXPECT_EQ(cost["cpu_fraction"], 0.004);
  EXPECT_EQ(cost["driver_calls"], 6000);
  EXPECT_EQ(cost["driver_s"], 0.3);
  EXPECT_EQ(cost["driver_fraction"], 0.03);
  EXPECT_EQ(cost["ticks"], 3000);
  EXPECT_EQ(cost["bytes_written"], 30'000);
  EXPECT_EQ(cost["bytes_per_tick"], 10.0);
  EXPECT_THAT(text(run), HasSubstr("10.0 s: the simulated world ran 10 times as fast as the wall clock"));
}

TEST(RunReport, CountsTheTimelineInSecondsUpToTenMinutes) {
  record::RunRecord run = saving_run();
  run.decisions = {{kBegin + 8.94_s, "wait", {}, "early"},
                   {kBegin + 599.9_s, "wait", {}, "late"},
                   {kBegin + 600_s, "wait", {}, "later"}};
  EXPECT_THAT(text(run), HasSubstr("         8.9 s  wait: early\n"
                                   "       599.9 s  wait: late\n"
                                   "   10 min 00 s  wait: later\n"));
}

TEST(RunReport, SaysOnceThatThereAreNoIntervals) {
  MadeRun made;
  made.block(BlockRole::baseline, 3, 1_s, 200_W).block(BlockRole::hold, 30, 1_s, 150_W);
  const std::string shown = text(made.ended());
  EXPECT_THAT(shown, HasSubstr("25.0 % less GPU energy and"));
  EXPECT_THAT(shown, HasSubstr("No confidence intervals: at the found setting\n  only 3"));
  EXPECT_THAT(shown, Not(HasSubstr("no interval")));
}

TEST(RunReport, ShoutsWhenAGpuWasNotPutBack) {
  record::RunRecord run = saving_run();
  run.end->devices[0].restoration = Restoration::failed;
  run.end->devices[0].restoration_detail = "the driver refused 200 W";
  EXPECT_THAT(text(run), HasSubstr("NO: the driver refused 200 W"));
  EXPECT_THAT(text(run), HasSubstr("rubato restore"));
}

TEST(RunReport, OfARecordCutShortSaysSo) {
  record::RunRecord run = saving_run();
  run.end.reset();
  EXPECT_THAT(text(run), HasSubstr("cut short"));
  EXPECT_THAT(text(run), HasSubstr("disk was full"))
      << "rubato may have lived on, and the run lasted hours more";
  const auto parsed = nlohmann::json::parse(json(run));
  EXPECT_FALSE(parsed["complete"]);
  EXPECT_TRUE(parsed["exit_status"].is_null());
  EXPECT_TRUE(parsed["gpus"][0]["restoration"].is_null());
}

TEST(RunReport, OfARunThatGoesOnSaysSo) {
  record::RunRecord run = saving_run();
  run.end.reset();
  const auto summary = analyse::summarise(run);
  const std::string shown = run_report_text(run, summary, {}, true);
  EXPECT_THAT(shown, HasSubstr("still running"));
  EXPECT_THAT(shown, HasSubstr("not yet: the run goes on"));
  EXPECT_THAT(shown, Not(HasSubstr("cut short")));
  EXPECT_TRUE(nlohmann::json::parse(render_json(run_report_json(run, summary, true)))["running"]);
}

TEST(RunReport, DoesNotPassEscapeSequencesOfACommandOn) {
  record::RunRecord run = saving_run();
  run.info.command = {"python", "\x1b[2Jtrain.py", "\xff"};
  EXPECT_THAT(text(run), Not(HasSubstr("\x1b")));
  EXPECT_TRUE(nlohmann::json::accept(json(run)));
}

TEST(RunList, ReadsLikeThis) {
  std::vector<record::RunSummary> runs = {
      {"20261121-081500-1a2b",
       "run",
       {"python", "train.py"},
       "2026-11-21T08:15:00Z",
       166_s,
       0,
       {},
       "/r/a.sqlite"},
      {"20261121-091500-3c4d",
       "measure",
       {"sh", "-c", std::string(90, 'x')},
       "2026-11-21T09:15:00Z",
       2.5_s,
       {},
       15,
       "/r/b.sqlite"},
      {"20261121-101500-5e6f", "run", {"./train"}, "2026-11-21T10:15:00Z", {}, {}, {}, "/r/c.sqlite"},
      {"20261121-111500-7a8b", "measure", {"./train"}, "2026-11-21T11:15:00Z", {}, {}, {}, "/r/d.sqlite"}};
  const std::set<std::filesystem::path> running = {"/r/d.sqlite"};
  expect_golden(runs_text(runs, {}, running), "runs.txt");
  expect_golden(render_json(runs_json(runs, running)), "runs.json");
  EXPECT_THAT(runs_text({}), HasSubstr("rubato measure"));
}

}  // namespace
}  // namespace rubato::cli
