#include "device/sim/backend.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "device/sim/world.h"

namespace rubato::device::sim {
namespace {

using testing::HasSubstr;

class SimBackend : public testing::Test {
 protected:
  std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) /
      cat("backend-", ::getpid(), "-", testing::UnitTest::GetInstance()->current_test_info()->name());
  SimBackend() {
    ::unsetenv("RUBATO_SIM_SCENARIO");
    ::setenv("RUBATO_SIM_WORLD", path.c_str(), 1);
  }
  ~SimBackend() override {
    ::unsetenv("RUBATO_SIM_WORLD");
    std::filesystem::remove(path);
  }
};

TEST_F(SimBackend, OpensTheGpusThatWereNamed) {
  const auto backend = open("v100,a100");
  ASSERT_TRUE(backend) << backend.error().what;
  ASSERT_EQ((*backend)->gpus().size(), 2U);
  EXPECT_EQ((*backend)->gpus()[1].name, "NVIDIA A100 80GB PCIe");
  EXPECT_TRUE((*backend)->simulated());
  EXPECT_EQ((*backend)->outlives_job(), true);
  const auto again = open("");
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->gpus()[0].id, (*backend)->gpus()[0].id);
}

TEST_F(SimBackend, ReadsAndSetsThroughTheTwoFaces) {
  const auto backend = open("v100");
  ASSERT_TRUE(backend) << backend.error().what;
  const GpuId id = (*backend)->gpus()[0].id;
  const auto gpu = (*backend)->open(id);
  const auto control = (*backend)->open_control(id);
  ASSERT_TRUE(gpu && control);
  const auto opening = (*gpu)->cost().calls;
  ASSERT_TRUE((*control)->set_power_limit(150_W));
  EXPECT_EQ((*gpu)->power_limits()->requested, 150_W);
  EXPECT_GT((*gpu)->read_fast()->power, 30_W);
  EXPECT_EQ((*gpu)->read_slow()->sm_clock, 135_MHz);
  EXPECT_EQ((*gpu)->kind(), Kind::modelled);
  EXPECT_EQ((*gpu)->cost().calls, opening + 8);
  EXPECT_GT((*gpu)->cost().inside, Seconds(0));
  EXPECT_THAT((*gpu)->capabilities().set_memory_clock.why_not, HasSubstr("cannot set its memory clock"));
}

TEST_F(SimBackend, SaysWhatABoardShowsAndWhatItDoesNot) {
  const auto backend = open("k80,h100");
  ASSERT_TRUE(backend) << backend.error().what;
  const auto old = (*backend)->open((*backend)->gpus()[0].id);
  const auto hopper = (*backend)->open((*backend)->gpus()[1].id);
  ASSERT_TRUE(old && hopper);
  EXPECT_THAT((*old)->capabilities().read_energy_counter.why_not,
              HasSubstr("Tesla K80 shows no energy counter"));
  EXPECT_FALSE((*old)->capabilities().set_sm_clock.available);
  EXPECT_EQ((*old)->supported_clocks()->pairs.front().sm.back(), 324_MHz);
  EXPECT_EQ((*old)->application_clocks()->by_default.sm, 562_MHz);
  EXPECT_TRUE((*hopper)->capabilities().read_memory_power.available);
  EXPECT_TRUE((*hopper)->read_fast()->memory_power);
  EXPECT_FALSE((*hopper)->read_fast()->module_power);
  EXPECT_EQ((*hopper)->read_slow()->limited.power_cap, Seconds(0));
  EXPECT_EQ((*hopper)->read_slow()->performance_state, 8U);
}

TEST_F(SimBackend, TellsTheJobWhereItsGpusAre) {
  const auto backend = open("v100");
  const GpuId id = (*backend)->gpus()[0].id;
  EXPECT_THAT((*backend)->job_environment({id}),
              testing::ElementsAre(testing::Pair("RUBATO_SIM_WORLD", HasSubstr("backend-")),
                                   testing::Pair("RUBATO_SIM_GPUS", id.uuid)));
}

TEST_F(SimBackend, UnknownGpusAndProfilesAreNotFound) {
  EXPECT_EQ(open("v1000").error().code, ErrorCode::not_found);
  const auto backend = open("v100");
  EXPECT_EQ((*backend)->open({"GPU-none"}).error().code, ErrorCode::not_found);
}

TEST_F(SimBackend, AnEmptyArgumentNeedsAWorld) {
  EXPECT_EQ(open("").error().code, ErrorCode::not_found);
  ::unsetenv("RUBATO_SIM_WORLD");
  EXPECT_EQ(open("").error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace rubato::device::sim
