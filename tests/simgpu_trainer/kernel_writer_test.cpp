#include "simgpu/trainer/kernel_writer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "conduct/kernel_reader.h"
#include "conduct/mark_reader.h"
#include "simgpu/trainer/train.h"

namespace rubato::sim_trainer {
namespace {

constexpr std::string_view kUuid = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f";

TEST(KernelDuty, SaysHowLongAndHowOften) {
  const auto duty = parse_kernel_duty("50ms/1s");
  ASSERT_TRUE(duty && *duty);
  EXPECT_DOUBLE_EQ((*duty)->on.value(), 0.05);
  EXPECT_DOUBLE_EQ((*duty)->period.value(), 1.0);
  EXPECT_TRUE(*parse_kernel_duty("2s/60s,nodes"));
  for (const char* off : {"", "off", "0"}) EXPECT_FALSE(*parse_kernel_duty(off));
  for (const char* bad : {"2s", "2/60", "3s/2s", "0s/1s", "-1s/2s", "s/2s", "often"})
    EXPECT_FALSE(parse_kernel_duty(bad)) << bad;
}

class KernelWriterTest : public testing::Test {
 protected:
  std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      cat("kernels-", ::getpid(), "-", testing::UnitTest::GetInstance()->current_test_info()->name());

  void SetUp() override { std::filesystem::create_directories(folder); }
  ~KernelWriterTest() override {
    for (const char* name : {"RUBATO_SIM_WORLD", "RUBATO_SIM_GPUS", RUBATO_MARKS_ENV, "RUBATO_KERNELS"})
      ::unsetenv(name);
    std::filesystem::remove_all(folder);
  }
  // A second of kernels, from `begin`.
  static GpuIteration second_from(int begin) {
    return {.begin = TimePoint{begin * 1'000'000'000LL},
            .end = TimePoint{(begin + 1) * 1'000'000'000LL},
            .segments = {{.phase = RUBATO_PHASE_FORWARD, .compute_s = 1}},
            .runs = {{.seconds = 1, .compute_busy = 1, .kernel_busy = 1}}};
  }
};

TEST_F(KernelWriterTest, CyclesHoldWholeIterationsAndRepeatWithTheirPeriod) {
  auto marks = MarkWriter::create(folder);
  auto writer = KernelWriter::create(folder, {.on = 2_s, .period = 5_s}, kUuid);
  ASSERT_TRUE(marks && writer);
  for (int i = 1; i <= 8; ++i) writer->write(second_from(i), *marks);
  writer->finish();
  const auto news = conduct::KernelReader(folder).finish(TimePoint{10'000'000'000});
  ASSERT_EQ(news.cycles.size(), 2U);
  EXPECT_EQ(news.cycles[0].begin, TimePoint{1'000'000'000});
  EXPECT_EQ(news.cycles[0].end, TimePoint{3'000'000'000});
  EXPECT_EQ(news.cycles[1].begin, TimePoint{6'000'000'000});
  EXPECT_EQ(news.cycles[1].end, TimePoint{8'000'000'000});
  EXPECT_EQ(news.kernels.size(), 4 * kernels_of(second_from(1)).size());
  for (const KernelRecord& k : news.kernels) {
    EXPECT_EQ(k.layer, static_cast<std::uint64_t>(RUBATO_PHASE_FORWARD));
    for (std::uint8_t i = 0; i < 16; ++i) EXPECT_EQ(k.device_uuid[i], i);
  }
}

TEST_F(KernelWriterTest, ATrainingWritesKernelsWithNamesWhereItIsAskedTo) {
  const std::vector<std::string> names{"v100"};
  auto world = device::sim::SimWorld::open_or_create(folder / "world", names, {.rate = 200.0});
  ASSERT_TRUE(world) << world.error().what;
  ::setenv("RUBATO_SIM_WORLD", (folder / "world").c_str(), 1);
  ::setenv(RUBATO_MARKS_ENV, folder.c_str(), 1);
  const auto train_ten = [] {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(train({.iterations = 10}).value_or(99));
    int status = -1;
    ::waitpid(pid, &status, 0);
    return status;
  };
  EXPECT_EQ(train_ten(), 0);
  EXPECT_EQ(conduct::KernelReader(folder).finish((*world)->clock()->now()).kernels.size(), 0U)
      << "not asked for";

  ::setenv("RUBATO_KERNELS", "60s/60s", 1);
  EXPECT_EQ(train_ten(), 0);
  const TimePoint now = (*world)->clock()->now();
  const auto news = conduct::KernelReader(folder).finish(now);
  ASSERT_EQ(news.cycles.size(), 1U);
  // Five of the six segments of resnet50 have kernels, six each.
  EXPECT_EQ(news.kernels.size(), 10U * 5 * 6);
  std::map<std::uint64_t, std::string> named;
  for (const Mark& m : conduct::MarkReader(folder).poll(now))
    if (m.kind == RUBATO_MARK_NAME)
      named[m.id].append(reinterpret_cast<const char*>(m.detail.data()),
                         ::strnlen(reinterpret_cast<const char*>(m.detail.data()), 32));
  for (const KernelRecord& k : news.kernels) {
    EXPECT_TRUE(named[k.name_hash].starts_with("sim_"));
    EXPECT_NE(k.device_uuid, (std::array<std::uint8_t, 16>{}));
  }
}

TEST_F(KernelWriterTest, ATrainingGoesOnWhereWhatIsAskedMeansNothing) {
  const std::vector<std::string> names{"v100"};
  auto world = device::sim::SimWorld::open_or_create(folder / "world", names, {.rate = 200.0});
  ASSERT_TRUE(world) << world.error().what;
  ::setenv("RUBATO_SIM_WORLD", (folder / "world").c_str(), 1);
  ::setenv(RUBATO_MARKS_ENV, folder.c_str(), 1);
  ::setenv("RUBATO_KERNELS", "often", 1);
  EXPECT_EQ(train({.iterations = 2}).value_or(99), 0);
  int problems = 0;
  for (const Mark& m : conduct::MarkReader(folder).poll((*world)->clock()->now()))
    problems += m.kind == RUBATO_MARK_PROBLEM ? 1 : 0;
  EXPECT_EQ(problems, 1);
}

}  // namespace
}  // namespace rubato::sim_trainer
