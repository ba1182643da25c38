// What a run's energy belongs to, as the report shows it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "analyse/made_training.h"
#include "base/text.h"
#include "cli/report/run_report.h"
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

// A GPU, the machine it is in, and what the CPUs tell.
record::RunRecord training() {
  MadeTraining made;
  made.channel("snmp:rack", "outlet-7", Scope::node, 150_W, 1.0);
  made.channel("rapl", "package-0", Scope::cpu_package, 60_W);
  made.channel("rapl", "core-0", Scope::cpu_cores, 20_W, 0, "package-0");
  made.say(RUBATO_MARK_HOOK, 1, "keras 3.6 (jax)").say(RUBATO_MARK_PROBLEM, 2, "the optimizer is not known");
  record::RunRecord run = three_epochs(std::move(made)).ended();
  // The hook says so when the framework is imported, after ten seconds.
  for (Mark& m : run.marks) m.at = std::max(m.at, kBegin + 10_s);
  run.names[3] = "warm cache";
  run.marks.push_back({.at = kBegin + 12_s, .kind = RUBATO_MARK_WINDOW_BEGIN, .id = 3, .pid = 1, .tid = 1});
  run.marks.push_back({.at = kBegin + 13_s, .kind = RUBATO_MARK_WINDOW_END, .id = 3, .pid = 1, .tid = 1});
  std::ranges::stable_sort(run.marks, {}, &Mark::at);
  run.names[4] = "volta_sgemm_128x64_nn";
  run.kernel_cycles = {{kBegin + 20_s, kBegin + 22_s, 1, 0}};
  run.kernels = {{.begin = kBegin + 20_s, .end = kBegin + 21.5_s, .name_hash = 4}};
  return run;
}

std::string text(const record::RunRecord& run, const TextOptions& options = {.width = 100},
                 const analyse::Factors& factors = {}) {
  return run_report_text(run, analyse::summarise(run), options, false, factors);
}
nlohmann::json json(const record::RunRecord& run, const analyse::Factors& factors = {}) {
  return nlohmann::json::parse(render_json(run_report_json(run, analyse::summarise(run), false, factors)));
}

TEST(PartsReport, OfATrainingReadsLikeThis) {
  expect_golden(text(training()), "training.txt");
  expect_golden(render_json(run_report_json(training(), analyse::summarise(training()))), "training.json");
}

TEST(PartsReport, FitsIntoAHundredAndIntoEightyColumns) {
  for (const int width : {80, 100})
    for (const std::string& line : split(text(training(), {.width = width}), '\n'))
      EXPECT_LE(width_of(line), static_cast<std::size_t>(width)) << line;
}

TEST(PartsReport, SourcesWithoutRoomAreNamedAndStandInTheJson) {
  EXPECT_THAT(text(training(), {.width = 80}), HasSubstr("3 more sources:"));
  EXPECT_EQ(json(training())["epochs"][0]["energy"].size(), 4U);
}

TEST(PartsReport, OfManyEpochsShowsTheFirstAndTheLast) {
  MadeTraining made;
  for (std::uint64_t epoch = 0; epoch < 30; ++epoch)
    made.mark(RUBATO_MARK_EPOCH_BEGIN, epoch).iterate(15, 0.4_s, 200_W).mark(RUBATO_MARK_EPOCH_END, epoch);
  const std::string shown = text(made.ended());
  EXPECT_THAT(shown, HasSubstr("… 20 more"));
  EXPECT_THAT(shown, HasSubstr("\n  4 "));
  EXPECT_THAT(shown, Not(HasSubstr("\n  5 ")));
  EXPECT_THAT(shown, HasSubstr("\n  25 "));
  EXPECT_EQ(json(made.ended())["epochs"].size(), 30U);
}

TEST(PartsReport, PartsOfEverySourceAddUp) {
  const auto run = json(training());
  ASSERT_EQ(run["parts"]["balance"].size(), 4U);
  for (const auto& b : run["parts"]["balance"]) {
    const double measured = b["measured_j"].is_null() ? 0 : b["measured_j"].get<double>();
    const double apportioned = b["apportioned_j"].is_null() ? 0 : b["apportioned_j"].get<double>();
    const double rounding = 1e-9 * b["run_j"].get<double>();
    EXPECT_NEAR(b["run_j"].get<double>(), measured + apportioned + b["residual_j"].get<double>(), rounding);
    EXPECT_LE(std::abs(b["residual_j"].get<double>()), b["band_sampling_j"].get<double>()) << b;
    double rows = 0;
    for (const auto& row : run["parts"]["rows"])
      for (const auto& e : row["energy"])
        if (e["source"] == b["source"])
          for (const char* part : {"measured", "apportioned"})
            if (!e[part].is_null()) rows += e[part]["energy_j"].get<double>();
    EXPECT_NEAR(rows, measured + apportioned, rounding);
  }
}

TEST(PartsReport, MeasuredAndApportionedStayApart) {
  const auto run = json(training());
  for (const auto& row : run["parts"]["rows"])
    for (const auto& e : row["energy"]) {
      EXPECT_TRUE(e["measured"].is_null() || !e["measured"]["apportioned"].get<bool>()) << e;
      EXPECT_TRUE(e["apportioned"].is_null() || e["apportioned"]["kind"] == "apportioned") << e;
    }
}

TEST(PartsReport, HasTheHostsWattsForThePriceOfASecond) {
  const auto host = json(training())["host_watts"];
  EXPECT_NEAR(host["value_w"].get<double>(), 150, 2);
  EXPECT_EQ(host["source"], "snmp:rack outlet-7 less GPU 0");
  EXPECT_FALSE(host["quality"].get<std::string>().empty());
}

TEST(PartsReport, WeighsTheHostAgainstASlowerJob) {
  MadeRun made(1, Kind::measured);
  made.block(BlockRole::baseline, 40, 1_s, 200_W, 0.01).block(BlockRole::hold, 80, 1.2_s, 125_W, 0.01);
  record::RunRecord run = made.ended();
  record::ChannelRecord& rapl = run.channels.emplace_back();
  rapl.info.meter = "rapl";
  rapl.info.channel = {.name = "package-0", .scope = Scope::cpu_package, .has_power = true};
  for (int i = 0; i <= 1360; ++i) rapl.readings.push_back({kBegin + 0.1_s * i, 100_W, {}});
  // 4000 J saved in 16 s more: 1600 J of them the host draws.
  EXPECT_THAT(text(run), HasSubstr("With the 100.0 W the host drew meanwhile: 24"));
  EXPECT_THAT(text(run), HasSubstr("less for board and host; at 25"));
}

TEST(PartsReport, ForetellsARunThatGoesOn) {
  record::RunRecord run = training();
  run.end.reset();
  EXPECT_THAT(text(run), HasSubstr("After 3 of 10 epochs, the training comes to 71.0"));
  EXPECT_EQ(json(run)["forecast"]["epochs_planned"], 10);
  EXPECT_TRUE(json(training())["forecast"].is_null());
}

TEST(PartsReport, MoneyAndCo2AreComputedNeverMeasured) {
  const analyse::Factors factors{analyse::Co2Factor{380, "the grid's operator", "2025", "SE"},
                                 analyse::Price{0.3, "EUR"}};
  const std::string shown = text(training(), {.width = 100}, factors);
  EXPECT_THAT(shown, HasSubstr("Money and CO2 (computed from a factor, not measured)"));
  const auto footprint = json(training(), factors)["footprint"];
  EXPECT_EQ(footprint["computed_from_a_factor"], true);
  EXPECT_NEAR(footprint["co2_g"].get<double>(), footprint["energy_kwh"].get<double>() * 380, 1e-6);
  EXPECT_FALSE(footprint.contains("kind"));
  EXPECT_THAT(text(training()), Not(HasSubstr("CO2")));
  EXPECT_TRUE(json(training())["footprint"].is_null());
}

TEST(PartsReport, AMeterThatGaveNothingIsUnknownNeverZero) {
  record::RunRecord run = training();
  run.channels[0].readings.clear();
  run.end->channels[0].energy.reset();
  EXPECT_THAT(text(run), HasSubstr("snmp:rack outlet-7 (node): unknown: no readings"));
  EXPECT_TRUE(json(run)["sources"][1]["energy"].is_null());
  EXPECT_TRUE(json(run)["parts"]["balance"][1]["run_j"].is_null());
}

TEST(PartsReport, ACrashedEpochSaysSo) {
  MadeTraining made;
  made.mark(RUBATO_MARK_EPOCH_BEGIN, 0).iterate(30, 0.4_s, 200_W);
  EXPECT_THAT(text(made.record()), HasSubstr("0 (cut short)"));
}

}  // namespace
}  // namespace rubato::cli
