#include "base/fs_root.h"

#include <gtest/gtest.h>

#include <fstream>

namespace rubato {
namespace {

TEST(FsRoot, ReadsUnderItsRootAndNamesTheFileItMisses) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "fs_root_test";
  std::filesystem::create_directories(folder / "proc");
  std::ofstream(folder / "proc/version") << "a kernel\n";
  const FsRoot root(folder);
  EXPECT_EQ(root.read("/proc/version").value(), "a kernel\n");
  const auto missing = root.read("/proc/none");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_NE(missing.error().what.find("proc/none"), std::string::npos);
}

}  // namespace
}  // namespace rubato
