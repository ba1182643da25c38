#include "exporter/setting_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <fstream>

#include "base/fd.h"
#include "base/text.h"
#include "record/sample_run.h"

namespace rubato::exporter {
namespace {

using record::testing_data::Folder;

const GpuId kGpu{"GPU-5100"};

class SettingGuardTest : public testing::Test {
 protected:
  void journal() { std::ofstream(folder_.path() / "GPU-5100") << "what was found\n"; }
  ScopedFd lock() {
    ScopedFd fd(open((folder_.path() / "GPU-5100.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(flock(fd.get(), LOCK_EX | LOCK_NB), 0);
    return fd;
  }
  Folder folder_;
};

TEST_F(SettingGuardTest, WithoutAJournalNothingOfOursIsInForce) {
  EXPECT_EQ(setting_guard_of(kGpu, folder_.path()), SettingGuard::none);
  EXPECT_EQ(setting_guard_of(kGpu, "/nowhere/at/all"), SettingGuard::none);
  const ScopedFd held = lock();
  EXPECT_EQ(setting_guard_of(kGpu, folder_.path()), SettingGuard::none);
}

TEST_F(SettingGuardTest, AGuardLivesWhileItsLockIsHeld) {
  journal();
  {
    const ScopedFd held = lock();
    EXPECT_EQ(setting_guard_of(kGpu, folder_.path()), SettingGuard::alive);
    const ScopedFd again(open((folder_.path() / "GPU-5100.lock").c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_NE(flock(again.get(), LOCK_EX | LOCK_NB), 0) << "looking let go of it";
  }
  EXPECT_EQ(setting_guard_of(kGpu, folder_.path()), SettingGuard::dead);
}

TEST_F(SettingGuardTest, AJournalThatNobodyEverLockedIsLeftBehind) {
  journal();
  EXPECT_EQ(setting_guard_of(kGpu, folder_.path()), SettingGuard::dead);
}

TEST_F(SettingGuardTest, WithoutTheKernelsListItCannotBeTold) {
  journal();
  EXPECT_EQ(setting_guard_of(kGpu, folder_.path(), FsRoot("/nowhere")), SettingGuard::unknown);
}

}  // namespace
}  // namespace rubato::exporter
