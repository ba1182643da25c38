#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

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

TEST_F(WorldPlace, WhatIsWrongWithAScenarioNamesTheVariableAndTheFile) {
  const std::filesystem::path file = folder / "scenario.json";
  ::setenv("RUBATO_SIM_SCENARIO", file.c_str(), 1);
  const std::vector<std::string> one{"v100"};
  const auto error = [&](const char* text) {
    std::ofstream(file) << text;
    return open_world_from_environment(one, Rights::owner).error();
  };
  for (const char* text : {R"({"rate":0})", "{", R"({"found":{"power_limit_w":900}})",
                           R"({"found":{"memory_clock_mhz":[877,877]}})"}) {
    const Error e = error(text);
    EXPECT_THAT(e.what, testing::StartsWith("RUBATO_SIM_SCENARIO=" + file.string() + ": ")) << text;
    EXPECT_THAT(e.hint, testing::HasSubstr("unset RUBATO_SIM_SCENARIO")) << text;
  }
  EXPECT_THAT(error(R"({"found":{"power_limit_w":900}})").what, testing::HasSubstr("100 W to 250 W"));
  std::filesystem::remove(file);
  EXPECT_THAT(open_world_from_environment(one, Rights::owner).error().what,
              testing::HasSubstr("RUBATO_SIM_SCENARIO=" + file.string()));
  ::unsetenv("RUBATO_SIM_SCENARIO");
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
