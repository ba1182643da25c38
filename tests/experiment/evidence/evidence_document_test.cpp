#include "experiment/evidence_document.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyse/student_t.h"

namespace rubato::experiment {
namespace {

using Json = nlohmann::ordered_json;

constexpr predict::KnobPoint kLimited{.power_limit = 150_W};

SweepMeasurement step(const predict::KnobPoint& at, double time, double energy) {
  SweepMeasurement m;
  m.at = at;
  m.time = Seconds(time);
  m.energy = Joules(energy);
  m.iterations = 50;
  m.run_id = "20261122-081500-123-1a2b";
  return m;
}

Evidence measured() {
  Evidence e;
  e.date = "2026-11-22";
  e.asked = Seconds(1800);
  e.limit_before = e.limit_after = 200_W;
  KernelEvidence fp32{"fp32", {}, {}};
  for (int i = 0; i < 2; ++i) {
    fp32.sweep.push_back(step({}, 0.1, 20));
    fp32.sweep.push_back(step(kLimited, 0.125, 18));
  }
  fp32.blocks = {step({}, 0.1, 20), step(kLimited, 0.125, 18), step(kLimited, 0.125, 18), step({}, 0.1, 20)};
  e.kernels.push_back(fp32);
  const Switch down{TimePoint{}, {}, kLimited, {}};
  const Switch up{TimePoint{}, {}, {}, kLimited};
  e.switches = WatchedSwitches{"fp32",
                               Seconds(0.01),
                               {{down, Seconds(0.02), Seconds(0.1), Seconds(0.3)},
                                {up, Seconds(0.02), std::nullopt, Seconds(0.2)},
                                {down, Seconds(0.04), Seconds(0.2), std::nullopt}}};
  return e;
}

Json document(const Evidence& e) {
  EvidencePlan plan;
  plan.other = kLimited;
  return evidence_json(e, plan, Json({{"name", "A board"}}), &analyse::student_t_quantile);
}

TEST(EvidenceDocument, SweepAndBlocksAreComparedWithTheFoundSetting) {
  const Json d = document(measured());
  EXPECT_EQ(d["schema"], "rubato.evidence/1");
  EXPECT_EQ(d["complete"], true);
  const Json& settings = d["sweeps"][0]["summary"]["settings"];
  ASSERT_EQ(settings.size(), 2);
  EXPECT_EQ(settings[1]["setting"]["power_limit_w"], 150);
  EXPECT_NEAR(settings[1]["time_over_found"]["value"].get<double>(), 1.25, 1e-9);
  EXPECT_NEAR(d["control_blocks"]["effect"]["energy_change"]["mean"].get<double>(), -0.1, 1e-9);
  EXPECT_TRUE(d["control_blocks"]["effect"]["energy_change"]["half_width_95"].is_null());
  EXPECT_EQ(d["power_limit"]["restored"], true);
}

TEST(EvidenceDocument, SwitchesAreToldForEachDirectionWithWhatWasNotSeen) {
  const Json d = document(measured())["switching"]["directions"];
  ASSERT_EQ(d.size(), 2);
  EXPECT_EQ(d[0]["to"]["power_limit_w"], 150);
  EXPECT_EQ(d[0]["sm_clock"]["count"], 2);
  EXPECT_NEAR(d[0]["sm_clock"]["median_s"].get<double>(), 0.15, 1e-9);
  EXPECT_EQ(d[0]["power"]["count"], 1);
  EXPECT_EQ(d[0]["power"]["of"], 2);
  EXPECT_EQ(d[1]["to"]["found"], true);
  EXPECT_TRUE(d[1]["sm_clock"]["median_s"].is_null()) << "missing is null, never zero";
}

TEST(EvidenceDocument, WhatIsMissingMakesItIncompleteAndSaysWhy) {
  Evidence e;
  e.missing = {{"the rest", "interrupted"}};
  const Json d = document(e);
  EXPECT_EQ(d["complete"], false);
  EXPECT_EQ(d["missing"][0]["why"], "interrupted");
  EXPECT_TRUE(d["control_blocks"].is_null());
  EXPECT_TRUE(d["switching"].is_null());
  EXPECT_TRUE(d["power_limit"]["restored"].is_null());
}

TEST(EvidenceDocument, ALimitThatDidNotComeBackIsNotHidden) {
  Evidence e = measured();
  e.limit_after = 150_W;
  EXPECT_EQ(document(e)["power_limit"]["restored"], false);
}

TEST(EvidenceDocument, NoRunIsNamed) {
  EXPECT_EQ(document(measured()).dump().find("20261122-081500"), std::string::npos);
}

}  // namespace
}  // namespace rubato::experiment
