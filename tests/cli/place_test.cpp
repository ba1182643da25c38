#include "cli/place.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "cli/request.h"

namespace rubato::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using Environment = std::map<std::string, std::string>;

constexpr const char* kAll = "000001ffffffffff";
constexpr const char* kNone = "0000000000000000";
constexpr const char* kWithoutSysAdmin = "00000000a80425fb";  // what Docker leaves to a container
const Environment kPath = {{"PATH", "/usr/local/bin:/usr/bin"}};

class PlaceTest : public testing::Test {
 public:
  ~PlaceTest() override { std::filesystem::remove_all(folder_); }

 protected:
  PlaceTest() { std::filesystem::remove_all(folder_); }

  void file(const std::string& path, const std::string& content = "") const {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << content;
  }
  void process(int uid, const std::string& effective, const std::string& bounding,
               const std::string& uid_map = "         0          0 4294967295\n") const {
    file("proc/self/status", cat("Name:\trubato\nUid:\t", uid, "\t", uid, "\t", uid, "\t", uid, "\nCapEff:\t",
                                 effective, "\nCapBnd:\t", bounding, "\n"));
    file("proc/self/uid_map", uid_map);
  }
  [[nodiscard]] Place asked(const Environment& environment = kPath) const {
    return place(FsRoot(folder_), environment);
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / cat("rubato-place-", ::getpid());
};

TEST_F(PlaceTest, RootOfTheMachineHasTheRight) {
  process(0, kAll, kAll);
  EXPECT_EQ(asked().right, Right::here);
  EXPECT_THAT(request_text(asked(), {}), HasSubstr("Nothing has to be asked for"));
}

TEST_F(PlaceTest, AUserIsToldOfSudoWhereThereIsOne) {
  process(1000, kNone, kAll);
  EXPECT_EQ(asked().right, Right::none);
  file("usr/bin/sudo");
  EXPECT_EQ(asked().right, Right::sudo);
  EXPECT_THAT(missing_right_here(asked()).hint, HasSubstr("rubato run --sudo"));
}

TEST_F(PlaceTest, RootOfAContainerWithoutTheCapabilityIsToldThatNoCommandHelps) {
  process(0, kWithoutSysAdmin, kWithoutSysAdmin);
  file(".dockerenv");
  file("usr/bin/sudo");
  EXPECT_EQ(asked().right, Right::withheld);
  EXPECT_THAT(
      missing_right_here(asked()).what,
      HasSubstr("the host withholds CAP_SYS_ADMIN from this Docker container; no command here mends it"));
  EXPECT_THAT(missing_right_here(asked()).hint, Not(HasSubstr("--sudo")));
  EXPECT_EQ(asked().in_words(), "a Docker container, as root");
}

TEST_F(PlaceTest, AUserOfSuchAContainerIsNotSentToSudo) {
  process(1000, kNone, kWithoutSysAdmin);
  file("usr/bin/sudo");
  EXPECT_EQ(asked().right, Right::withheld);
}

TEST_F(PlaceTest, AnotherUserNamespacesRootIsNone) {
  process(0, kAll, kAll, "         0       1000          1\n");
  EXPECT_EQ(asked().right, Right::withheld);
  EXPECT_THAT(missing_right_here(asked()).what, HasSubstr("user namespace"));
}

TEST_F(PlaceTest, OnASchedulersNodeTheStepIsTheAdministrators) {
  process(1000, kNone, kAll);
  file("usr/bin/sudo");
  Environment environment = kPath;
  environment["SLURM_JOB_ID"] = "7";
  const Place here = asked(environment);
  EXPECT_EQ(here.right, Right::scheduler);
  EXPECT_THAT(missing_right_here(here).hint, HasSubstr("rubato doctor --request"));
  const std::string request =
      request_text(here, {.host = "node17", .user = "ada", .gpus = {"8 x V100"}, .driver_version = "535.1"});
  for (const char* needed : {"node17", "ada", "8 x V100", "535.1", "sudoers", "epilog", "rubato restore"})
    EXPECT_THAT(request, HasSubstr(needed));
}

}  // namespace
}  // namespace rubato::cli
