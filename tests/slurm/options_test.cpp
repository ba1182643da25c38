// What stands after --rubato.
#include "options.h"

#include <gmock/gmock.h>

namespace rubato::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SlurmOptions, AreTheWordsOfRubatoRun) {
  const auto parsed = parse_options(
      "max-slowdown=5%,objective=edp,knobs=power-limit+sm-clock,rank-clocks=own,host-watts=120.5,dry-run");
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.options.mode, Options::Mode::run);
  EXPECT_FALSE(parsed.options.batch);
  EXPECT_THAT(parsed.options.words,
              ElementsAre("--max-slowdown=5%", "--objective=edp", "--knobs=power-limit,sm-clock",
                          "--rank-clocks=own", "--host-watts=120.5", "--dry-run"));
  EXPECT_THAT(
      parse_options("power-limit=250,sm-clock=1200,memory-clock=2619,max-slowdown=0.05").options.words,
      ElementsAre("--power-limit=250", "--sm-clock=1200", "--memory-clock=2619", "--max-slowdown=0.05"));
}

TEST(SlurmOptions, NothingIsRubatoRunAsItIs) {
  const auto parsed = parse_options("");
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.options.mode, Options::Mode::run);
  EXPECT_THAT(parsed.options.words, IsEmpty());
}

TEST(SlurmOptions, LeaveAJobAloneOrMeasureItOrTakeTheBatchScript) {
  EXPECT_EQ(parse_options("off").options.mode, Options::Mode::off);
  EXPECT_EQ(parse_options("measure").options.mode, Options::Mode::measure);
  const auto batch = parse_options("batch,max-slowdown=0");
  EXPECT_TRUE(batch.options.batch);
  EXPECT_THAT(batch.options.words, ElementsAre("--max-slowdown=0"));
  EXPECT_TRUE(parse_options("measure,batch").options.batch);
}

TEST(SlurmOptions, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> wrong[] = {
      {"fast", "'fast' is none of max-slowdown=5%"},
      {"max-slowdown", "'max-slowdown' wants a value, as in max-slowdown=5%"},
      {"max-slowdown=", "'' is no value for max-slowdown"},
      {"max-slowdown=5", "'5' is no value"},
      {"max-slowdown=101%", "'101%' is no value"},
      {"max-slowdown=-1%", "no value"},
      {"max-slowdown=nan", "no value"},
      {"max-slowdown=5%%", "no value"},
      {"max-slowdown=0x1", "no value"},
      {"objective=speed", "'speed' is no value for objective"},
      {"knobs=", "no value for knobs"},
      {"knobs=power-limit+", "no value for knobs"},
      {"knobs=application-clocks", "no value for knobs"},
      {"power-limit=0", "no value for power-limit"},
      {"power-limit=1e3", "no value for power-limit"},
      {"power-limit=200 --as-root", "no value for power-limit"},
      {"sm-clock=12345678901234567890", "no value for sm-clock"},
      {"off=1", "'off' takes no value"},
      {"max-slowdown=5%,max-slowdown=5%", "'max-slowdown' stands twice"},
      {"max-slowdown=5%,", "an option is missing"},
      {",", "an option is missing"},
      {"off,measure", "'off' leaves the job alone"},
      {"measure,power-limit=200", "'measure' sets nothing"},
      {"power-limit=200,objective=edp", "a setting of your own"},
      {"sm-clock=1200,dry-run", "a setting of your own"}};
  for (const auto& [text, told] : wrong) {
    const auto parsed = parse_options(text);
    EXPECT_THAT(parsed.error, HasSubstr(told)) << text;
    EXPECT_THAT(parsed.options.words, IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace rubato::slurm
