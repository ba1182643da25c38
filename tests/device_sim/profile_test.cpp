#include "device/sim/profile.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "device/sim/embedded.h"
#include "device/sim/work.h"
#include "device_sim/sim_fixture.h"

namespace rubato::device::sim {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

TEST(SimulatedProfiles, EveryFigureCarriesItsSource) {
  ASSERT_GE(embedded_gpus().size(), 13U);
  for (const std::string_view text : embedded_gpus()) {
    const Json profile = Json::parse(text);
    for (const auto& [name, value] : profile.items())
      if (value.is_object()) {
        EXPECT_GT(value.at("source").get<std::string>().size(), 3U) << name;
        EXPECT_TRUE(value.contains("value")) << name;
      }
  }
}

TEST(SimulatedProfiles, EveryBoardReachesButDoesNotDwarfItsPowerLimit) {
  for (const ProfileSummary& summary : list_profiles()) {
    Bench bench(summary.name);
    bench.load({.compute_s = 0.1, .memory_s = 0.05, .compute_activity = 1.0, .memory_activity = 1.0});
    bench.run(200_s);
    const Watts limit = bench.world->profile(0).limit_default;
    const double seen = bench.read().power_instant / limit;
    EXPECT_GT(seen, 0.85) << summary.name;
    EXPECT_LT(seen, 1.05) << summary.name;
    EXPECT_LT(bench.truth().temperature, bench.world->profile(0).slowdown + Celsius(1)) << summary.name;
  }
}

TEST(SimulatedProfiles, NamesAndAliasesAreDistinct) {
  std::vector<std::string> names;
  for (const ProfileSummary& p : list_profiles()) {
    names.push_back(p.name);
    if (p.alias != p.name) names.push_back(p.alias);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(SimulatedProfiles, TheAliasesThatTheDocumentsFix) {
  EXPECT_EQ((*find_profile("v100"))->name, "v100-pcie-16gb");
  EXPECT_EQ((*find_profile("a100"))->name, "a100-pcie-80gb");
  EXPECT_EQ((*find_profile("h100"))->name, "h100-sxm5-80gb");
  for (const char* name : {"h200", "rtxa4000", "rtx3080ti", "v100-sxm2-32gb", "t4", "k80"})
    EXPECT_TRUE(find_profile(name)) << name;
}

Json v100() {
  for (const std::string_view text : embedded_gpus())
    if (Json j = Json::parse(text); j.at("alias") == "v100") return j;
  return {};
}

TEST(SimulatedProfiles, WhatCannotBeIsRefusedAndNamed) {
  const auto refusal = [](const char* figure, const Json& value) {
    Json j = v100();
    j[figure]["value"] = value;
    const Result<Profile> p = parse_profile(j.dump());
    return p ? std::string("accepted") : p.error().what;
  };
  EXPECT_THAT(refusal("limit_default_w", 500), HasSubstr("limit_default_w"));
  EXPECT_THAT(refusal("sm_clocks_mhz", {{"first", 135}, {"last", 1380}, {"step", 0}}), HasSubstr("step"));
  EXPECT_THAT(refusal("voltage", Json::array()), HasSubstr("voltage"));
  EXPECT_THAT(refusal("thermal_c_per_w", 2.0), HasSubstr("runaway"));
  EXPECT_THAT(refusal("sm_idle_mhz", 136), HasSubstr("not in its table"));
  EXPECT_THAT(refusal("pci_device_id", 6e119), HasSubstr("whole number"));
  EXPECT_THAT(refusal("limiter_steps", -1), HasSubstr("whole number"));
  EXPECT_THAT(parse_profile("[]").error().what, HasSubstr("GPU profile"));
  EXPECT_TRUE(parse_profile(v100().dump()));
}

TEST(SimulatedWorkloads, EveryOneSaysWhereItsFiguresComeFrom) {
  ASSERT_GE(embedded_workloads().size(), 9U);
  for (const std::string_view text : embedded_workloads()) {
    const Json j = Json::parse(text);
    for (const char* source : {"share_source", "split_source", "activity_source"})
      EXPECT_GT(j.at(source).get<std::string>().size(), 10U) << j.at("name");
  }
}

TEST(SimulatedWorkloads, AWorkloadWithoutWorkIsRefused) {
  Json j = Json::parse(embedded_workloads().front());
  j["segments"] = Json::array();
  EXPECT_THAT(parse_workload(j.dump()).error().what, HasSubstr("segments"));
  EXPECT_FALSE(parse_workload("{"));
}

}  // namespace
}  // namespace rubato::device::sim
