#include "device/nvml/rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rubato::device::nvml {
namespace {

using testing::HasSubstr;

constexpr auto kIdentityMap = "         0          0 4294967295\n";

class Rights : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("rights_") + test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "proc/self");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] Capability ask() const { return setting_right(FsRoot(folder_)); }

 private:
  std::filesystem::path folder_;
};

TEST_F(Rights, CapSysAdminInTheInitialNamespaceIsEnough) {
  write("proc/self/status", "Name:\tx\nCapEff:\t0000000000200000\n");
  write("proc/self/uid_map", kIdentityMap);
  EXPECT_TRUE(ask().available);
}

TEST_F(Rights, EveryOtherCapabilityIsNot) {
  write("proc/self/status", "CapEff:\t000001ffffdfffff\n");
  write("proc/self/uid_map", kIdentityMap);
  EXPECT_FALSE(ask().available);
  EXPECT_THAT(ask().why_not, HasSubstr("CAP_SYS_ADMIN"));
  EXPECT_THAT(ask().hint, HasSubstr("--sudo"));
}

TEST_F(Rights, AUserNamespaceIsNamed) {
  write("proc/self/status", "CapEff:\t000001ffffffffff\n");
  write("proc/self/uid_map", "         0       1000          1\n");
  EXPECT_FALSE(ask().available);
  EXPECT_THAT(ask().why_not, HasSubstr("user namespace"));
}

TEST_F(Rights, TheCallingThreadCountsNotItsProcess) {
  write("proc/self/status", "CapEff:\t000001ffffffffff\n");
  write("proc/thread-self/status", "CapEff:\t0000000000000000\n");
  write("proc/self/uid_map", kIdentityMap);
  EXPECT_FALSE(ask().available);
}

TEST_F(Rights, AKernelWithoutUserNamespacesHasOnlyTheInitialOne) {
  write("proc/self/status", "CapEff:\t0000000000200000\n");
  EXPECT_TRUE(ask().available);
}

TEST_F(Rights, NoProcMeansUnknownAndIsSaid) {
  EXPECT_FALSE(ask().available);
  EXPECT_THAT(ask().why_not, HasSubstr("cannot tell"));
}

}  // namespace
}  // namespace rubato::device::nvml
