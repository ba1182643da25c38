#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/runtime_folder.h"
#include "base/text.h"
#include "device/sim/world.h"

namespace rubato::device::sim {
namespace {

class WorldPlace : public testing::Test {
 protected:
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / cat("place-", ::getpid());
  void SetUp() override {
    std::filesystem::create_directories(folder);
    ::setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);
  }
  ~WorldPlace() override {
    ::unsetenv("XDG_RUNTIME_DIR");
    std::filesystem::remove_all(folder);
  }
};

TEST_F(WorldPlace, IsInTheUsersRuntimeFolderUnderFullNames) {
  const std::vector<std::string> two{"v100", "a100"};
  const auto path = default_world_path(two);
  ASSERT_TRUE(path) << path.error().what;
  EXPECT_EQ(*path, folder / "rubato/sim/v100-pcie-16gb,a100-pcie-80gb.world");
  struct stat info {};
  ASSERT_EQ(::stat((folder / "rubato").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST_F(WorldPlace, AFolderOthersMayWriteToIsRefused) {
  std::filesystem::create_directory(folder / "rubato");
  ::chmod((folder / "rubato").c_str(), 0770);
  EXPECT_EQ(runtime_folder().error().code, ErrorCode::no_permission);
}

TEST_F(WorldPlace, ASymbolicLinkIsRefused) {
  std::filesystem::create_directory(folder / "elsewhere");
  std::filesystem::create_directory_symlink(folder / "elsewhere", folder / "rubato");
  const auto refused = runtime_folder();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, testing::HasSubstr("symbolic link"));
}

}  // namespace
}  // namespace rubato::device::sim
