// The guard's folder and what may lie in it.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "guard/guard.h"
#include "guard/guard_world.h"

namespace rubato::guard {
namespace {

using fake::ask;
using fake::kBothKnobs;
using fake::refusal;
using fake::World;

bool granted(const wire::Body& body) {
  return std::holds_alternative<wire::Granted>(body);
}

TEST(Guard, AJournalFolderOthersCanWriteToIsRefused) {
  World world;
  std::filesystem::create_directory(world.folder);
  std::filesystem::permissions(world.folder, std::filesystem::perms(0777));
  Guard guard(world.options());
  EXPECT_EQ(refusal(ask(guard, kBothKnobs)), ErrorCode::no_permission);
  std::filesystem::remove(world.folder);
  std::filesystem::create_directory_symlink(::testing::TempDir(), world.folder);
  EXPECT_TRUE(std::holds_alternative<wire::Refused>(ask(guard, kBothKnobs)));
  std::filesystem::remove(world.folder);
}

TEST(Guard, ItsFolderHasTheWantedModeWhateverTheUmaskAndWhateverWasThere) {
  World world;
  const auto mode = [&] { return std::filesystem::status(world.folder).permissions(); };
  GuardOptions options = world.options();
  options.folder_mode = kSystemFolderMode;
  for (const bool there : {false, true}) {
    if (there) std::filesystem::permissions(world.folder, std::filesystem::perms(0700));
    const mode_t before = ::umask(077);
    Guard guard(options);
    EXPECT_TRUE(granted(ask(guard, kBothKnobs)));
    ::umask(before);
    EXPECT_EQ(mode(), std::filesystem::perms(0755));
    (void)ask(guard, wire::Release{});
  }
}

TEST(Guard, AFolderThatOthersMayReadStaysReadable) {
  World world;
  std::filesystem::create_directory(world.folder);
  std::filesystem::permissions(world.folder, std::filesystem::perms(0755));
  GuardOptions options = world.options();
  options.folder_mode = 0700;
  Guard guard(options);
  EXPECT_TRUE(granted(ask(guard, kBothKnobs)));
  EXPECT_EQ(std::filesystem::status(world.folder).permissions(), std::filesystem::perms(0755));
  (void)ask(guard, wire::Release{});
}

TEST(Guard, AJournalThatIsASymbolicLinkIsNotFollowed) {
  World world;
  std::filesystem::create_directory(world.folder);
  std::filesystem::permissions(world.folder, std::filesystem::perms(0700));
  const auto target = world.folder / "precious";
  std::ofstream(target) << "kept";
  std::filesystem::create_symlink(target, world.journal());
  Guard guard(world.options());
  EXPECT_TRUE(std::holds_alternative<wire::Refused>(ask(guard, kBothKnobs)));
  EXPECT_EQ(std::filesystem::file_size(target), 4U);
}

}  // namespace
}  // namespace rubato::guard
