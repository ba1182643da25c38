// The models in priors/ are what their tables give today. To renew one: docs/priors.md#carried-models.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/text.h"
#include "core/sweep_table_csv.h"
#include "experiment/advise/advise.h"
#include "experiment/advise/shipped.h"
#include "experiment/model_file.h"
#include "generated_page.h"

namespace rubato::experiment {
namespace {

class CarriedModel : public testing::TestWithParam<ShippedModel> {
 protected:
  void SetUp() override {
    auto file = parse_model_file(GetParam().text, GetParam().name);
    ASSERT_TRUE(file) << file.error().what;
    file_ = std::move(*file);
  }
  ModelFile file_;
};

TEST_P(CarriedModel, SaysWhichBoardItSaw) {
  ASSERT_EQ(file_.gpus.size(), 1U);
  EXPECT_EQ(file_.gpus.front().highest.power_limit, Watts(250));
  EXPECT_EQ(file_.learner, "physical");
  EXPECT_EQ(file_.knobs, std::vector{Knob::power_limit});
}

TEST_P(CarriedModel, IsWhatItsTableGivesNow) {
  const std::filesystem::path path =
      std::filesystem::path(environment("RUBATO_TEST_DATA")) / "tables" / file_.table;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the measured table " << file_.table << " is not there";
  const auto table = read_sweep_table(path);
  ASSERT_TRUE(table) << table.error().what;
  const auto fingerprint = fingerprint_of(*table);
  ASSERT_TRUE(fingerprint) << fingerprint.error().what;
  EXPECT_EQ(file_.fingerprint, *fingerprint);
  const auto curves = predict::curves_of(*table, file_.knobs);
  ASSERT_TRUE(curves) << curves.error().what;
  const auto learner = predict::find_learner(file_.learner);
  ASSERT_TRUE(learner) << learner.error().what;
  const auto again = (*learner)->learn(*curves, file_.knobs);
  ASSERT_TRUE(again) << again.error().what;
  const predict::Known& asked = curves->front().known;
  const auto kept = file_.model->predict(asked, file_.gpus.front().settings);
  const auto made = (*again)->predict(asked, file_.gpus.front().settings);
  ASSERT_TRUE(kept) << kept.error().what;
  ASSERT_TRUE(made) << made.error().what;
  // Compilers differ in the last digits, and iterations carry that on.
  EXPECT_LT((kept->log_time - made->log_time).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LT((kept->log_energy - made->log_energy).cwiseAbs().maxCoeff(), 1e-3);
}

TEST_P(CarriedModel, GivesNoNumberForABoardOfAnotherLimit) {
  AdviceRequest request;
  request.known.gpu = cat("Tesla ", file_.gpus.front().name, "-SXM2");
  request.known.highest.power_limit = Watts(300);
  request.known.at_default = {.at = {.power_limit = Watts(300)}, .time = Seconds(1), .energy = Joules(250)};
  request.candidates = {{.power_limit = Watts(200)}, {.power_limit = Watts(300)}};
  const ModelFacts facts{.name = "it",
                         .gpus_seen = {file_.gpus.front().name},
                         .highest_limit = file_.gpus.front().highest.power_limit,
                         .on_unseen_gpus = {}};
  const auto advice = advise(*file_.model, facts, request);
  ASSERT_TRUE(advice) << advice.error().what;
  EXPECT_NE(advice->refused.find("300 W"), std::string::npos) << advice->refused;
  EXPECT_NE(advice->refused.find("250 W"), std::string::npos) << advice->refused;
  request.known.highest.power_limit = Watts(250);
  EXPECT_TRUE(advise(*file_.model, facts, request)->refused.empty());
}

std::string name_of_test(const testing::TestParamInfo<ShippedModel>& info) {
  return std::string(info.param.name.substr(0, info.param.name.find('-')));
}

INSTANTIATE_TEST_SUITE_P(All, CarriedModel,
                         testing::ValuesIn(shipped_models().begin(), shipped_models().end()), name_of_test);

}  // namespace
}  // namespace rubato::experiment
