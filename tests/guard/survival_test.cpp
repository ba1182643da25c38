#include "guard/survival.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace rubato::guard {
namespace {

using Environment = std::map<std::string, std::string>;
using ::testing::HasSubstr;

class Machine {
 public:
  Machine() : folder_(std::filesystem::path(::testing::TempDir()) / "rubato-survival") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Machine() { std::filesystem::remove_all(folder_); }
  Machine& with(const std::string& path, const std::string& content = "") {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << content;
    return *this;
  }
  [[nodiscard]] Survival asked(const Environment& environment = {}) const {
    return survival(FsRoot(folder_), environment);
  }

  [[nodiscard]] FsRoot root() const { return FsRoot(folder_); }

 private:
  std::filesystem::path folder_;
};

TEST(Survival, ABareHostAndAHostWithSystemdOutliveTheJob) {
  EXPECT_EQ(Machine().asked().means, Outliving::plain);
  EXPECT_EQ(Machine()
                .with("run/systemd/system/x")
                .with("proc/self/cgroup", "0::/user.slice/user-1000.slice\n")
                .asked()
                .means,
            Outliving::scope);
}

TEST(Survival, ContainersAreRecognisedByFileEnvironmentAndCgroup) {
  EXPECT_FALSE(Machine().with(".dockerenv").asked().possible());
  EXPECT_FALSE(Machine().with("run/.containerenv").asked().possible());
  EXPECT_FALSE(Machine().asked({{"container", "podman"}}).possible());
  for (const std::string path : {"/docker/1f2e", "/kubepods/besteffort/pod1", "/system.slice/docker-1f.scope",
                                 "/machine.slice/libpod-77.scope", "/lxc/web", "/lxc.payload.web"}) {
    const auto answer =
        Machine().with("run/systemd/system/x").with("proc/self/cgroup", "0::" + path + "\n").asked();
    EXPECT_FALSE(answer.possible()) << path;
    EXPECT_THAT(answer.hint, HasSubstr("--accept-unrestored"));
  }
}

TEST(Survival, SchedulerJobsAreRecognisedAndNamed) {
  EXPECT_THAT(Machine().asked({{"SLURM_JOB_ID", "7"}}).why, HasSubstr("Slurm"));
  EXPECT_THAT(Machine().asked({{"PBS_JOBID", "7"}}).why, HasSubstr("PBS"));
  EXPECT_THAT(Machine().asked({{"LSB_JOBID", "7"}}).why, HasSubstr("LSF"));
  EXPECT_THAT(Machine().asked({{"JOB_ID", "7"}, {"SGE_ROOT", "/sge"}}).why, HasSubstr("Grid Engine"));
  EXPECT_TRUE(Machine().asked({{"JOB_ID", "7"}}).possible()) << "anybody may have such a variable";
  for (const std::string path :
       {"/slurm/uid_1000/job_7/step_0", "/system.slice/slurmstepd.scope/job_7/step_0/user",
        "/pbs_jobs.service/jobid/7.head"}) {
    EXPECT_FALSE(Machine().with("proc/self/cgroup", "0::" + path + "\n").asked().possible()) << path;
  }
}

TEST(Survival, SchedulerAndContainerAreBothNamed) {
  const auto answer = Machine().with(".dockerenv").asked({{"SLURM_JOB_ID", "7"}});
  EXPECT_EQ(answer.scheduler, "Slurm");
  EXPECT_EQ(answer.container, "Docker");
  EXPECT_TRUE(Machine().asked().container.empty());
}

TEST(Survival, AFolderThatTheHostLendsIsAMountOfItsOwn) {
  const std::string lent = "36 35 0:30 /rubato /run/rubato rw - tmpfs tmpfs rw\n";
  const std::string own = "36 35 0:30 / /run rw - tmpfs tmpfs rw\n";
  EXPECT_TRUE(is_lent_by_host(Machine().with("proc/self/mountinfo", lent).root(), "/run/rubato"));
  EXPECT_FALSE(is_lent_by_host(Machine().with("proc/self/mountinfo", own).root(), "/run/rubato"));
  EXPECT_FALSE(is_lent_by_host(Machine().root(), "/run/rubato"));
}

TEST(Survival, WordsThatOnlyLookLikeAContainerAreNone) {
  EXPECT_TRUE(Machine().with("proc/self/cgroup", "0::/user.slice/mydockers.scope\n").asked().possible());
  EXPECT_TRUE(Machine().with("proc/self/cgroup", "0::/system.slice/slurmd.service\n").asked().possible());
}

}  // namespace
}  // namespace rubato::guard
