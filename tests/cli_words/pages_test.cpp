#include "cli/words/pages.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "cli/words/completion.h"
#include "cli/words/help.h"
#include "cli/words/man.h"
#include "cli/words/tree.h"
#include "cli_report/golden.h"
#include "report/layout.h"
#include "sample_app.h"

namespace rubato::cli {
namespace {

using testing::HasSubstr;
using testing_data::expect_golden;
using testing_data::SampleApp;

const KnownValues kKnown{{"v100"}, {"resnet50"}};

TEST(Help, ReadsLikeThis) {
  SampleApp sample;
  expect_golden(help_text(sample.app, 80), "help.txt", "cli_words");
  expect_golden(help_text(*sample.app.get_subcommand("export"), 80), "help_export.txt", "cli_words");
}

TEST(Help, FitsTheTerminal) {
  SampleApp sample;
  for (const CLI::App* each : all_commands(sample.app))
    for (const std::string& line : split(help_text(*each, 80), '\n'))
      EXPECT_LE(report::width_of(line), 80U) << line;
}

TEST(ManPage, ReadsLikeThis) {
  SampleApp sample;
  expect_golden(man_page(sample.app, "0.1.0"), "rubato.1", "cli_words");
  expect_golden(man_page(*sample.app.get_subcommand("run"), "0.1.0"), "rubato-run.1", "cli_words");
}

TEST(ManPage, OfASubcommandHasItsWholeName) {
  SampleApp sample;
  EXPECT_EQ(man_name(*sample.app.get_subcommand("sim")->get_subcommand("train")), "rubato-sim-train");
}

TEST(Completion, IsMadeOfTheTree) {
  SampleApp sample;
  expect_golden(bash_completion(sample.app, kKnown), "completion.bash", "cli_words");
  expect_golden(zsh_completion(sample.app, kKnown), "completion.zsh", "cli_words");
  expect_golden(fish_completion(sample.app, kKnown), "completion.fish", "cli_words");
}

TEST(Pages, OfEveryCommandBeginWithAnExampleOfRubato) {
  for (const char* path : {"", "run", "measure", "show", "runs", "compare", "export", "restore", "doctor",
                           "devices", "sim train", "completion", "help"}) {
    const CommandPage* page = page_of(path);
    ASSERT_NE(page, nullptr) << path;
    ASSERT_FALSE(page->examples.empty()) << path;
    EXPECT_THAT(std::string(page->examples.front().command), HasSubstr("rubato ")) << path;
  }
  EXPECT_EQ(page_of("dance"), nullptr);
}

}  // namespace
}  // namespace rubato::cli
