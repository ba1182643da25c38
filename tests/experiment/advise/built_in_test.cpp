#include "experiment/advise/built_in.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace rubato::experiment {
namespace {

TEST(BuiltIn, StatesTheIntervalThatItsEvidenceMeasured) {
  const char* source = std::getenv("RUBATO_SOURCE_DIR");
  if (source == nullptr) GTEST_SKIP() << "run by ctest, which says where the sources are";
  std::ostringstream page;
  page << std::ifstream(std::string(source) + "/docs/evidence/built-in-advice.md").rdbuf();
  const std::string text = page.str();
  const std::string before = "mean saving is ";
  const auto at = text.find(before);
  double low = 0;
  double high = 0;
  ASSERT_TRUE(at != std::string::npos &&
              std::sscanf(text.c_str() + at + before.size(), "%lf %% to %lf %%", &low, &high) == 2)
      << "renew it: rubato-built-in-advice --data ../shared/data > docs/evidence/built-in-advice.md";
  const auto stated = built_in_facts().on_unseen_gpus;
  ASSERT_TRUE(stated);
  EXPECT_NEAR(stated->low, low / 100, 1e-9);
  EXPECT_NEAR(stated->high, high / 100, 1e-9);
}

TEST(BuiltIn, NeedsNothingButTheDefault) {
  const auto model = built_in_model(std::array{Knob::power_limit});
  ASSERT_TRUE(model) << model.error().what;
  predict::Known known{.gpu = "Tesla V100-PCIE-16GB", .highest = {.power_limit = 250_W}};
  known.at_default = {.at = {.power_limit = 250_W}, .time = 0.3_s, .energy = 60_J};
  const std::array<predict::KnobPoint, 2> at = {{{.power_limit = 200_W}, {.power_limit = 100_W}}};
  const auto believed = (*model)->predict(known, at);
  ASSERT_TRUE(believed) << believed.error().what;
  // A cap at half of what the board draws costs time, and is the less certain of the two.
  EXPECT_GT(believed->log_time[1], believed->log_time[0]);
  EXPECT_GT(believed->time_deviation(1), believed->time_deviation(0));
}

}  // namespace
}  // namespace rubato::experiment
