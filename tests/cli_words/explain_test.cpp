#include "cli/words/explain.h"

#include <gmock/gmock.h>

#include <optional>

#include "sample_app.h"

namespace rubato::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

Error explained(std::vector<std::string> words, bool separated = false) {
  const testing_data::SampleApp sample;
  return explain(sample.app, {std::move(words), {}, separated}, "the library's words");
}

TEST(Explain, NamesTheNearestOptionAndWhatTheCommandTakes) {
  const Error error = explained({"run", "--power-limt", "150"}, true);
  EXPECT_EQ(error.what, "`rubato run` has no option --power-limt; the nearest is --power-limit");
  EXPECT_EQ(
      error.hint,
      "it takes --power-limit W, --sm-clock MHZ, --json and --quiet; `rubato run --help` explains them");
}

TEST(Explain, NamesTheCommandThatHasTheOption) {
  EXPECT_THAT(explained({"export", "--sm-clock", "5"}).what, HasSubstr("`rubato run` has it"));
  EXPECT_EQ(explained({"export", "--colour"}).what, "`rubato export` has no option --colour");
}

TEST(Explain, NamesTheNearestCommand) {
  EXPECT_EQ(explained({"exprot"}).hint, "rubato export");
  EXPECT_EQ(explained({"sim", "trian"}).what, "`rubato sim` has no command trian; the nearest is train");
  EXPECT_EQ(explained({"dance"}).what, "`rubato` has no command dance; there are run, export and sim");
}

TEST(Explain, PutsTheMissingSeparatorWhereItBelongs) {
  EXPECT_EQ(explained({"run", "python", "train.py"}).hint, "rubato run -- python train.py");
  EXPECT_EQ(explained({"run", "--power-limit", "150", "python3", "x.py", "--lr", "3"}).hint,
            "rubato run --power-limit 150 -- python3 x.py --lr 3");
  EXPECT_EQ(explained({"run", "-q", "--power-limit=150", "a b"}).hint,
            "rubato run -q --power-limit=150 -- 'a b'");
  EXPECT_THAT(explained({"run", "python"}, true).what, Not(HasSubstr("behind --"))) << "there is one already";
}

TEST(Explain, OffersToMeasureAProgram) {
  const Error error = explained({"sh", "-c", "true"});
  EXPECT_EQ(error.what, "sh is a program, not a command of rubato");
  EXPECT_EQ(error.hint, "rubato measure -- sh -c true");
}

TEST(Explain, TakesTheUnitOffANumber) {
  EXPECT_EQ(explained({"run", "--power-limit", "150W"}).what,
            "--power-limit takes a plain number of watts, not 150W");
  EXPECT_EQ(explained({"run", "--power-limit", "150W"}).hint, "--power-limit 150");
  EXPECT_EQ(explained({"run", "--sm-clock=1.2GHz"}).hint, "--sm-clock 1200");
  EXPECT_EQ(explained({"run", "--power-limit", "low"}).hint, "--power-limit 150")
      << "an example, where nothing fits";
}

TEST(Explain, SaysOfSharesAndGramsWhatIsMeant) {
  CLI::App app{"", "rubato"};
  std::optional<double> eta;
  std::optional<double> co2;
  app.add_option("--eta", eta, "share of energy")->type_name("SHARE");
  app.add_option("--co2", co2, "of your electricity")->type_name("G_PER_KWH")->check(CLI::NonNegativeNumber);
  const auto said = [&](std::string option, std::string value) {
    return explain(app, {{std::move(option), std::move(value)}, {}, false}, "the library's words");
  };
  EXPECT_EQ(said("--eta", "half").what, "--eta takes a share, from 0 to 1, as a plain number, not half");
  EXPECT_EQ(said("--eta", "half").hint, "--eta 0.5");
  EXPECT_EQ(said("--co2", "lots").what, "--co2 takes a plain number of grams for a kilowatt-hour, not lots");
  EXPECT_EQ(said("--co2", "-1").what, "--co2 takes a number that is not below 0, not -1");
  EXPECT_EQ(said("--co2", "-1").hint, "--co2 400");
}

TEST(Explain, NamesNumbersOutOfRangeAndFractionsOfWholeOnes) {
  EXPECT_EQ(explained({"sim", "train", "x", "--iterations", "-3"}).what,
            "--iterations takes a number above 0, not -3");
  EXPECT_EQ(explained({"sim", "train", "x", "--iterations", "2.5"}).what,
            "--iterations takes a whole number, not 2.5");
  EXPECT_EQ(explained({"sim", "train", "x", "--repeats", "2000"}).what,
            "--repeats takes a number from 1 to 1000, not 2000");
  EXPECT_EQ(explained({"sim", "train", "x", "--repeats", "many"}).what,
            "--repeats takes a plain number, not many");
}

TEST(Explain, NamesWhatIsMissing) {
  EXPECT_EQ(explained({}).what, "`rubato` needs a command: run, export or sim");
  EXPECT_EQ(explained({"sim", "train"}).what, "`rubato sim train` needs WORKLOAD, what to train");
  EXPECT_THAT(explained({"export"}).what, HasSubstr("needs --format FORMAT"));
  EXPECT_EQ(explained({"run", "--power-limit"}, true).what,
            "--power-limit needs a value: power limit of every GPU");
  EXPECT_EQ(explained({"run", "--power-limit", "--json"}, true).hint, "--power-limit 150");
}

TEST(Explain, NamesTheChoices) {
  const Error error = explained({"export", "--format", "jsn"});
  EXPECT_EQ(error.what, "--format jsn is none of csv and json");
  EXPECT_EQ(error.hint, "--format json");
}

TEST(Explain, NamesWhatIsTooMuch) {
  EXPECT_EQ(explained({"export", "--format", "csv", "a", "b"}).what,
            "`rubato export` takes no further argument, and there is b");
  EXPECT_EQ(explained({"run", "--json=yes"}, true).what,
            "--json takes no value, so --json=yes means nothing");
}

TEST(Explain, KeepsTheLibrarysWordsWhereItKnowsNothingBetter) {
  const Error error = explained({"run", "--json", "-q"}, true);
  EXPECT_EQ(error.what, "the library's words");
  EXPECT_EQ(error.hint, "rubato run --help");
}

}  // namespace
}  // namespace rubato::cli
