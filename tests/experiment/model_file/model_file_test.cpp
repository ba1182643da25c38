#include "experiment/model_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "experiment/fnv1a64.h"

namespace rubato::experiment {
namespace {

using nlohmann::json;

/// `workloads` on one GPU, each 1 s and 200 J at 200 W, and slower and cheaper at 100 W.
SweepTable table(std::size_t workloads) {
  SweepTable out;
  out.origin.name = "somewhere/made.csv";
  for (std::size_t i = 0; i < workloads; ++i)
    for (const double limit : {100.0, 200.0}) {
      const double time = limit == 200 ? 1 : 1.1 + 0.1 * static_cast<double>(i);
      out.rows.push_back({.gpu = "V",
                          .workload = cat("w", i),
                          .group = cat("g", i),
                          .power_limit = Watts(limit),
                          .sm_clock = {},
                          .memory_clock = {},
                          .time = Seconds(time),
                          .power = Watts(limit),
                          .energy = Watts(limit) * Seconds(time),
                          .is_default = {},
                          .features = {}});
    }
  return out;
}

ModelFile trained(std::size_t workloads = 3) {
  const auto learner = predict::find_learner("mean-curve");
  auto file = train_model(table(workloads),
                          {.learner = *learner, .knobs = {Knob::power_limit}, .date = "2026-11-22"});
  EXPECT_TRUE(file) << file.error().what;
  return std::move(*file);
}

/// As somebody would who changes a figure and knows of the checksum.
std::string with(const char* pointer, const json& value) {
  json document = json::parse(write_model_file(trained()));
  document[json::json_pointer(pointer)] = value;
  document.erase("checksum");
  const std::string sum = fnv1a64(document.dump());
  document["checksum"] = sum;
  return document.dump();
}

TEST(ModelFile, SaysWhatItLearnedFrom) {
  const ModelFile file = trained();
  EXPECT_EQ(file.learner, "mean-curve");
  EXPECT_EQ(file.rows, 6U);
  EXPECT_EQ(file.workloads, 3U);
  EXPECT_EQ(file.groups, 3U);
  EXPECT_EQ(file.table, "made.csv");
  ASSERT_EQ(file.gpus.size(), 1U);
  EXPECT_EQ(file.gpus.front().name, "V");
  EXPECT_EQ(file.gpus.front().highest.power_limit, 200_W);
  EXPECT_EQ(file.gpus.front().settings.size(), 2U);
}

TEST(ModelFile, HoldsTheErrorsOfGroupsLeftOut) {
  // Slowdowns of 1.1, 1.2 and 1.3: each is taken for the mean of the other two.
  const ModelFile file = trained();
  ASSERT_TRUE(file.left_out.time);
  EXPECT_NEAR(*file.left_out.time, (1.25 / 1.1 - 1 + 0 + 1 - 1.15 / 1.3) / 3, 1e-9);
}

TEST(ModelFile, PredictsTheSameAfterItWasReadBack) {
  const ModelFile file = trained();
  const auto again = parse_model_file(write_model_file(file));
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(write_model_file(*again), write_model_file(file));
  predict::Known known{.gpu = "V",
                       .at_default = {.at = {.power_limit = 200_W}, .time = 2_s, .energy = 400_J},
                       .highest = {.power_limit = 200_W},
                       .features = {},
                       .probes = {}};
  const std::vector<predict::KnobPoint> at = {{.power_limit = 100_W}};
  const auto p = again->model->predict(known, at);
  ASSERT_TRUE(p) << p.error().what;
  EXPECT_NEAR(std::exp(p->log_time[0]), 1.2, 1e-9);
}

TEST(ModelFile, TheFingerprintIsOfTheRowsAlone) {
  SweepTable other = table(3);
  other.comments = {"measured on a Sunday"};
  std::swap(other.rows.front(), other.rows.back());
  EXPECT_EQ(*fingerprint_of(other), *fingerprint_of(table(3)));
  other.rows.front().time = 1.5_s;
  EXPECT_NE(*fingerprint_of(other), *fingerprint_of(table(3)));
}

TEST(ModelFile, TheChecksumIsTheOneThatIsPublished) {
  // From the reference of the hash (Noll's page, test vectors of FNV-1a with 64 bits).
  EXPECT_EQ(fnv1a64(""), "fnv1a64:cbf29ce484222325");
  EXPECT_EQ(fnv1a64("foobar"), "fnv1a64:85944171f73967e8");
}

TEST(ModelFile, OneThatIsCutOffIsRefused) {
  const std::string text = write_model_file(trained());
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, text.size() / 2, text.size() - 3}) {
    const auto read = parse_model_file(text.substr(0, length), "m.json");
    ASSERT_FALSE(read) << length;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt);
    EXPECT_EQ(read.error().what.rfind("m.json: ", 0), 0U) << read.error().what;
  }
}

TEST(ModelFile, OneThatWasEditedIsRefused) {
  std::string text = write_model_file(trained());
  const auto at = text.find("\"rows\":6");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 8, "\"rows\":9");
  const auto read = parse_model_file(text);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().what.find("changed since it was written"), std::string::npos) << read.error().what;
}

TEST(ModelFile, OneOfAnotherVersionIsRefusedByItsNumber) {
  const auto read = parse_model_file(with("/schema", "rubato.model/2"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::not_supported);
  EXPECT_NE(read.error().what.find("rubato.model/2"), std::string::npos);
}

TEST(ModelFile, OneWithOtherCountersIsRefused) {
  const auto read = parse_model_file(with("/feature_schema", 99));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::not_supported);
}

TEST(ModelFile, MembersOfAnotherTypeAreRefused) {
  for (const char* pointer : {"/learner", "/knobs", "/gpus", "/data/rows", "/left_out", "/state"}) {
    EXPECT_FALSE(parse_model_file(with(pointer, "nonsense"))) << pointer;
  }
  EXPECT_FALSE(parse_model_file("[]"));
  EXPECT_FALSE(parse_model_file("{\"schema\": 1}"));
}

TEST(ModelFile, AnUnknownGpuIsRefusedAndTheKnownOnesAreNamed) {
  const ModelFile file = trained();
  EXPECT_TRUE(file.gpu("V"));
  const auto other = file.gpu("W");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::not_supported);
  EXPECT_NE(other.error().what.find("'V'"), std::string::npos);
}

TEST(ModelFile, WithoutASecondGroupItsErrorsAreNotKnown) {
  SweepTable one = table(2);
  for (SweepRow& row : one.rows) row.group = "g";
  const auto learner = predict::find_learner("mean-curve");
  const auto file =
      train_model(one, {.learner = *learner, .knobs = {Knob::power_limit}, .date = "2026-11-22"});
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_FALSE(file->left_out.time);
  EXPECT_FALSE(parse_model_file(write_model_file(*file))->left_out.time);
}

TEST(ModelFile, AFileThatIsNotThereIsNamed) {
  const auto read = read_model_file("/nonexistent/model.json");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().what.find("/nonexistent/model.json"), std::string::npos);
}

}  // namespace
}  // namespace rubato::experiment
