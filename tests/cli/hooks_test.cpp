#include "cli/hooks.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "base/text.h"

namespace rubato::cli {
namespace {
namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

/// An installed rubato in a folder of its own.
class Hooks : public testing::Test {
 protected:
  Hooks() {
    put("share/rubato/python/inject/sitecustomize.py");
    put("lib/rubato/librubato-inject.so");
  }
  ~Hooks() override {
    std::error_code ignored;
    fs::remove_all(prefix_, ignored);
  }
  void put(const std::string& file) const {
    fs::create_directories((prefix_ / file).parent_path());
    std::ofstream(prefix_ / file) << "\n";
  }
  [[nodiscard]] HookPlan plan(const HookWishes& wishes, const std::map<std::string, std::string>& environment,
                              const std::vector<std::string>& command = {"python3", "train.py"}) const {
    return plan_hooks(wishes, command, environment, prefix_ / "bin" / "rubato");
  }
  [[nodiscard]] std::string ours() const { return (prefix_ / "share/rubato/python/inject").string(); }
  fs::path prefix_ = fs::path(testing::TempDir()) / cat("rubato-hooks-", ::getpid());
};

TEST_F(Hooks, StandInFrontOfThePythonPathThatIsThere) {
  EXPECT_THAT(plan({}, {}).environment, ElementsAre(Pair("PYTHONPATH", ours())));
  EXPECT_THAT(plan({}, {{"PYTHONPATH", ""}}).environment, ElementsAre(Pair("PYTHONPATH", ours())));
  EXPECT_THAT(plan({}, {{"PYTHONPATH", "/a:/b"}}).environment,
              ElementsAre(Pair("PYTHONPATH", ours() + ":/a:/b")));
  EXPECT_THAT(plan({}, {{"PYTHONPATH", ours() + ":/a"}}).environment,
              ElementsAre(Pair("PYTHONPATH", ours() + ":/a")))
      << "a rubato inside a rubato";
  EXPECT_TRUE(plan({}, {}).python_expected);
}

TEST_F(Hooks, AreLeftOutWhereTheUserSaysSo) {
  EXPECT_THAT(plan({.python = false}, {}).environment, IsEmpty());
  EXPECT_THAT(plan({}, {{"RUBATO_HOOKS", "off"}}).environment, IsEmpty());
  EXPECT_FALSE(plan({}, {{"RUBATO_HOOKS", "off"}}).python_expected);
  EXPECT_THAT(plan({}, {{"RUBATO_HOOKS", "torch"}}).environment, testing::SizeIs(1)) << "a choice is not off";
}

TEST_F(Hooks, SayWhenTheyCannotBeActive) {
  const auto told = plan({}, {}, {"python3", "-I", "train.py"});
  EXPECT_THAT(told.notes, ElementsAre(HasSubstr("cannot be active: `python3 -I`")));
  EXPECT_FALSE(told.python_expected);
  fs::remove_all(prefix_ / "share");
  EXPECT_THAT(plan({}, {}).not_installed, HasSubstr("not installed"));
  EXPECT_THAT(plan({}, {}).notes, IsEmpty()) << "the job is not the place to say it";
}

TEST_F(Hooks, ThatCouldNotBeStartedAreNotTakenForAJobWithoutFramework) {
  EXPECT_THAT(no_hook_came(prefix_ / "marks"), HasSubstr("imported no framework"));
  put("marks/hooks.failed");
  EXPECT_THAT(no_hook_came(prefix_ / "marks"), HasSubstr("imported no framework"));
  std::ofstream(prefix_ / "marks/hooks.failed") << "EOFError: \x1b[2Jmarshal data too short\nmore\n";
  const std::string told = no_hook_came(prefix_ / "marks");
  EXPECT_THAT(told, HasSubstr("marshal data too short; RUBATO_HOOKS_LOG"));
  EXPECT_THAT(told, Not(HasSubstr("imported no framework")));
  EXPECT_EQ(told.find('\x1b'), std::string::npos);
}

TEST_F(Hooks, RecordKernelsOnlyWhenAskedAndOnlyWhereNobodyElseDoes) {
  const HookWishes wishes{.python = false, .kernels = "2s/60s"};
  EXPECT_THAT(
      plan(wishes, {}).environment,
      ElementsAre(Pair("RUBATO_KERNELS", "2s/60s"),
                  Pair("CUDA_INJECTION64_PATH", (prefix_ / "lib/rubato/librubato-inject.so").string()),
                  Pair("NVTX_INJECTION64_PATH", (prefix_ / "lib/rubato/librubato-inject.so").string())));
  EXPECT_EQ(plan(wishes, {{"NVTX_INJECTION64_PATH", "/opt/other.so"}}).environment.size(), 2U);
  const auto taken = plan(wishes, {{"CUDA_INJECTION64_PATH", "/opt/other.so"}});
  EXPECT_THAT(taken.environment, ElementsAre(Pair("RUBATO_KERNELS", "2s/60s")));
  EXPECT_THAT(taken.notes, ElementsAre(HasSubstr("/opt/other.so")));
}

}  // namespace
}  // namespace rubato::cli
