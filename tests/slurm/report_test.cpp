// The reports of a step's tasks, put together.
#include "report.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "report_folder.h"

namespace rubato::slurm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

GpuOfTask gpu(const char* node, const char* uuid, double energy_j) {
  return {node, uuid, "NVIDIA H100", 0, "measured", energy_j, energy_j / 10, "restored"};
}

TEST(SlurmReport, CountsEveryGpuOnce) {
  const std::vector<TaskReport> tasks{
      {"run-a", 100, {gpu("n1", "GPU-a", 6000), gpu("n1", "GPU-b", 7000)}, ""},
      {"run-b", 90, {gpu("n1", "GPU-b", 6500)}, "5 % less"},
      {"run-c", 95, {gpu("n2", "GPU-c", 9000)}, ""}};
  const std::string report = step_report("12.0", tasks, 0);
  EXPECT_THAT(report, HasSubstr("Slurm step 12.0: 3 GPUs, 22 kJ ± 2200 J (measured)"));
  EXPECT_THAT(report, HasSubstr("run run-b: 5 % less"));
  EXPECT_THAT(report, Not(HasSubstr("6500")));
}

TEST(SlurmReport, MissingIsMissing) {
  auto silent = gpu("n1", "GPU-a", 0);
  silent.energy_j.reset();
  silent.restoration = "failed";
  const std::string report = step_report("12.0", {{"run-a", 100, {silent, gpu("n1", "GPU-b", 10)}, ""}}, 2);
  EXPECT_THAT(report, HasSubstr("1 of them without a figure"));
  EXPECT_THAT(report, HasSubstr("no energy"));
  EXPECT_THAT(report, HasSubstr("NOT PUT BACK"));
  EXPECT_THAT(report, HasSubstr("2 reports of tasks cannot be read"));
  EXPECT_THAT(step_report("12.0", {}, 0), HasSubstr("no GPU was measured"));
}

TEST(SlurmReport, ReadsWhatRubatoRunWrites) {
  const auto task = read_task_report(
      R"({"run_id":"r","duration_s":2.5,"savings":null,"gpus":[{"uuid":"GPU-a","name":"V100","index":1,
          "quality":"modelled","energy_j":12.5,"energy_band_sampling_j":1,"energy_band_calibration_j":2,
          "restoration":"not_needed"}]})",
      "n1", "f");
  ASSERT_TRUE(task.has_value()) << task.error().what;
  EXPECT_EQ(task->gpus.at(0).energy_j, 12.5);
  EXPECT_EQ(task->gpus.at(0).band_j, 3);
  EXPECT_EQ(task->saving, "");
}

TEST(SlurmReport, AStepThatBeginsForgetsWhatAnEarlierStartOfItsJobLeft) {
  const auto state = std::filesystem::path(testing::TempDir()) / cat("rubato-slurm-", getpid());
  setenv("XDG_STATE_HOME", state.c_str(), 1);
  for (const char* step : {"12.0", "12.1"}) {
    std::filesystem::create_directories(report_folder(step));
    std::ofstream(report_folder(step) / "n1.0.json") << "{}";
  }
  forget_reports("12.0");
  EXPECT_FALSE(std::filesystem::exists(report_folder("12.0")));
  EXPECT_TRUE(std::filesystem::exists(report_folder("12.1") / "n1.0.json"));
  forget_reports("12.0");
  std::filesystem::remove_all(state);
  unsetenv("XDG_STATE_HOME");
}

TEST(SlurmReport, AFileThatIsNoneIsNamed) {
  for (const char* text : {"", "[]", "{}", R"({"run_id":1})", R"({"run_id":"r","duration_s":-1,"gpus":[]})",
                           R"({"run_id":"r","duration_s":1,"gpus":[{}]})"}) {
    const auto task = read_task_report(text, "n1", "/state/12.0/n1.0.json");
    ASSERT_FALSE(task.has_value()) << text;
    EXPECT_THAT(task.error().what, HasSubstr("/state/12.0/n1.0.json"));
  }
}

}  // namespace
}  // namespace rubato::slurm
