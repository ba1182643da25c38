#include "cli/report/page_series.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyse/made_run.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

using namespace analyse::testing_data;
using Json = nlohmann::json;

Json heads(const record::RunRecord& run, const std::string& prefix = {}, int first = 0) {
  const auto series = page_series(run, {}, prefix, first);
  Json out = Json::array();
  if (!series) return out;
  for (const auto& one : *series) out.push_back(Json::parse(report::render_json(one.head)));
  return out;
}

record::RunRecord measured() {
  MadeRun made(2);
  made.block(BlockRole::baseline, 30, 1_s, 200_W);
  record::RunRecord run = made.ended();
  run.devices[1].slow.push_back({.at = kBegin, .sm_clock = 1380_MHz});
  record::ChannelRecord& meter = run.channels.emplace_back();
  meter.info.meter = "rapl";
  meter.info.channel.name = "package-0";
  for (int i = 0; i < 4; ++i)
    meter.readings.push_back({.at = kBegin + Seconds(0.5 * i), .energy_counter = Joules(60.0 * i)});
  return run;
}

TEST(PageSeries, HasEveryReadingOfGpusMetersAndIterations) {
  const Json all = heads(measured());
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0]["owner"], "GPU 0");
  EXPECT_EQ(all[0]["count"], 31);
  EXPECT_EQ(all[0]["columns"][1]["name"], "power_w");
  EXPECT_EQ(all[2]["owner"], "GPU 1");
  EXPECT_EQ(all[2]["columns"][1]["name"], "sm_clock_mhz");
  EXPECT_EQ(all[2]["columns"].size(), 2U) << "what nobody read has no column";
  EXPECT_EQ(all[4]["owner"], "iterations");
  EXPECT_EQ(all[4]["count"], 30);
}

TEST(PageSeries, ARegisterOfJoulesIsToldAsMeanWatts) {
  const Json meter = heads(measured())[3];
  EXPECT_EQ(meter["owner"], "rapl package-0 (mean between readings)");
  EXPECT_TRUE(meter["meter"].get<bool>());
  EXPECT_EQ(meter["columns"][1]["present"], 3) << "before the first reading nothing is known";
  EXPECT_NEAR(meter["columns"][1]["first"].get<double>() * meter["columns"][1]["quantum"].get<double>(), 120,
              1e-9);
}

TEST(PageSeries, OfTwoRunsAreToldApart) {
  const Json b = heads(measured(), "B ", 5);
  EXPECT_EQ(b[0]["owner"], "B GPU 0");
  EXPECT_EQ(b[0]["id"], 5);
  EXPECT_EQ(b[4]["id"], 9);
}

TEST(PageSeries, WhatIsLongIsKeptCoarserAndSaysSo) {
  EXPECT_LT(resolution_for(10).power_w, resolution_for(10'000'000).power_w);
  EXPECT_NE(resolution_for(10'000'000).sentence("last").find("0.1 W and moments to 1 ms"), std::string::npos);
}

TEST(PageSeries, OfARunThatMeasuredNothingAreNone) {
  EXPECT_TRUE(heads({}).empty());
}

TEST(PageSeries, AnOutlineNamesEachColumnByItsSeries) {
  report::SeriesOutline outline(30, 3);
  std::size_t steps = 0;
  const record::RunRecord run = measured();
  ASSERT_TRUE(page_series(run, {}, {}, 4, &outline, [&steps] { ++steps; }));
  EXPECT_EQ(steps, steps_of(run));
  const auto packed = std::move(outline).finish(9);
  ASSERT_TRUE(packed);
  const Json head = Json::parse(report::render_json(packed->head));
  std::vector<std::string> names;
  for (const Json& column : head["columns"]) names.push_back(column["name"]);
  EXPECT_EQ(names.size(), 1 + 5 * 4U);
  EXPECT_EQ(names[3], "4.power_w.mean");
  EXPECT_EQ(names.back(), "8.duration_s.count");
}

}  // namespace
}  // namespace rubato::cli
