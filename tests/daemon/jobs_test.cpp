// What Slurm's prolog and epilog tell rubatod, and what follows from it.
#include "daemon/jobs.h"

#include <gmock/gmock.h>

#include "daemon/daemon_world.h"

namespace rubato::daemon {
namespace {

using fake::DaemonWorld;
using fake::kGpu;
using fake::kOneGpu;
using fake::kOther;
using fake::kTwoGpus;
using fake::limit_to;
using guard::fake::refusal;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr uid_t kRoot = 0;
constexpr uid_t kUser = 1000;

class JobsOnGpus : public ::testing::Test {
 protected:
  static Rules only_slurm() {
    Rules rules = DaemonWorld::managing();
    rules.rules = {Rule{.name = "jobs", .any_slurm_job = true}};
    return rules;
  }
  static std::string words(const wire::Body& body) {
    const auto* refused = std::get_if<wire::Refused>(&body);
    return refused == nullptr ? "not refused" : refused->error.what;
  }
  wire::ClearedGpu tell(const wire::Body& message) {
    const auto reply = daemon_.ask(prolog_, message);
    const auto* cleared = std::get_if<wire::Cleared>(&reply);
    EXPECT_NE(cleared, nullptr) << words(reply);
    return cleared == nullptr ? wire::ClearedGpu{} : cleared->gpus.at(0);
  }
  bool granted(uid_t user, const wire::Acquire& wanted = kOneGpu) {
    const auto client = daemon_.connect(user);
    const bool got = std::holds_alternative<wire::Granted>(daemon_.ask(client, wanted));
    daemon_.disconnect(client);
    return got;
  }

  DaemonWorld daemon_{only_slurm()};
  ConnectionId prolog_ = daemon_.connect(kRoot);
};

TEST_F(JobsOnGpus, WithoutACgroupTheUsersProcessesAreTheJobsOnItsGpusAndOnlyThere) {
  EXPECT_FALSE(granted(kUser));
  EXPECT_EQ(tell(wire::JobBegin{7, kUser, {kGpu}}).report.outcome, Restoration::not_needed);
  EXPECT_TRUE(granted(kUser));
  EXPECT_FALSE(granted(kUser, kTwoGpus));
  EXPECT_FALSE(granted(kUser + 1));
  tell(wire::JobEnd{7, {kGpu}});
  EXPECT_FALSE(granted(kUser));
}

TEST_F(JobsOnGpus, ARuleForOneJobIsForThatJobOfTheUserOnly) {
  daemon_.rules().rules = {Rule{.name = "seven", .slurm_jobs = {7}}};
  daemon_.core().use_rules(daemon_.rules(), daemon_.now());
  tell(wire::JobBegin{7, kUser, {kGpu}});
  tell(wire::JobBegin{8, kUser, {kOther}});
  EXPECT_TRUE(granted(kUser));
  EXPECT_FALSE(granted(kUser, wire::Acquire{{kOther}, {Knob::power_limit}, {}}));
}

TEST_F(JobsOnGpus, AGpuOfAJobIsNobodyElsesEvenBeforeTheJobComputes) {
  daemon_.core().use_rules(DaemonWorld::managing(), daemon_.now());
  EXPECT_TRUE(granted(kUser + 1));
  tell(wire::JobBegin{7, kUser, {kGpu}});
  const auto other = daemon_.connect(kUser + 1);
  EXPECT_THAT(words(daemon_.ask(other, kOneGpu)), HasSubstr("is given to Slurm job 7 of user 1000"));
  EXPECT_TRUE(granted(kUser + 1, wire::Acquire{{kOther}, {Knob::power_limit}, {}}));
  Rules shared = DaemonWorld::managing();
  shared.rules.front().shared = true;
  daemon_.core().use_rules(shared, daemon_.now());
  EXPECT_TRUE(granted(kUser + 1)) << "where the administrator says so";
}

TEST_F(JobsOnGpus, TheEndOfAJobEndsItsLeaseWhateverItsProcessesDo) {
  tell(wire::JobBegin{7, kUser, {kGpu}});
  const auto client = daemon_.connect(kUser);
  (void)daemon_.ask(client, kOneGpu);
  (void)daemon_.ask(client, limit_to(150));
  const auto cleared = tell(wire::JobEnd{7, {kGpu}});
  EXPECT_EQ(cleared.report.outcome, Restoration::restored);
  EXPECT_THAT(cleared.report.detail, HasSubstr("200 W"));
  EXPECT_TRUE(daemon_.as_found());
  EXPECT_THAT(words(daemon_.ask(client, limit_to(150))), HasSubstr("the scheduler ended Slurm job 7"));
  EXPECT_EQ(refusal(daemon_.ask(client, kOneGpu)), ErrorCode::no_permission);
  EXPECT_THAT(daemon_.log(), Contains("job done"));
}

TEST_F(JobsOnGpus, TheNextJobEndsWhatTheOneBeforeLeftWhereItsEpilogWasKilled) {
  tell(wire::JobBegin{7, kUser, {kGpu}});
  const auto client = daemon_.connect(kUser);
  (void)daemon_.ask(client, kOneGpu);
  (void)daemon_.ask(client, limit_to(150));
  EXPECT_EQ(tell(wire::JobBegin{8, kUser + 1, {kGpu}}).report.outcome, Restoration::restored);
  EXPECT_TRUE(daemon_.as_found());
  EXPECT_FALSE(granted(kUser));
  EXPECT_TRUE(granted(kUser + 1));
  // And the late epilog of the first takes nothing from the second.
  const auto late = tell(wire::JobEnd{7, {kGpu}});
  EXPECT_EQ(late.report.outcome, Restoration::not_needed);
  EXPECT_THAT(late.report.detail, HasSubstr("given to Slurm job 8"));
  EXPECT_TRUE(granted(kUser + 1));
}

TEST_F(JobsOnGpus, ALeaseThatIsBeingTakenEndsToo) {
  tell(wire::JobBegin{7, kUser, {kGpu}});
  const auto client = daemon_.connect(kUser);
  daemon_.owner().hangs = true;
  daemon_.send(client, kOneGpu);
  daemon_.send(prolog_, wire::JobEnd{7, {kGpu}});
  daemon_.step();
  daemon_.owner().hangs = false;
  daemon_.settle();
  daemon_.step();
  daemon_.settle();
  EXPECT_TRUE(std::holds_alternative<wire::Cleared>(daemon_.heard(prolog_).back().body));
  EXPECT_TRUE(daemon_.core().idle());
  EXPECT_FALSE(std::filesystem::exists(daemon_.world.journal()));
}

TEST_F(JobsOnGpus, AGpuThatHangsInBeingTakenHoldsUpTheEpilogOfNoOther) {
  daemon_.core().use_rules(DaemonWorld::managing(), daemon_.now());
  const auto client = daemon_.connect(kUser);
  daemon_.owner(1).hangs = true;
  daemon_.send(client, kTwoGpus);
  daemon_.settle();
  EXPECT_EQ(tell(wire::JobEnd{{}, {kGpu}}).report.outcome, Restoration::not_needed);
  EXPECT_TRUE(granted(kUser + 1));
  // Of the one that hangs nothing is asked over and over.
  daemon_.send(prolog_, wire::JobEnd{{}, {kOther}});
  const auto posted = daemon_.owner(1).posted();
  for (int i = 0; i < 100; ++i) daemon_.step();
  EXPECT_EQ(daemon_.owner(1).posted(), posted);
  daemon_.owner(1).hangs = false;
  daemon_.settle();
  EXPECT_TRUE(std::holds_alternative<wire::Cleared>(daemon_.heard(prolog_).back().body));
  EXPECT_TRUE(daemon_.core().idle());
}

TEST_F(JobsOnGpus, AGpuThatCannotBePutBackIsSaidToBeAndPutBackWhenItCan) {
  tell(wire::JobBegin{7, kUser, {kGpu}});
  const auto client = daemon_.connect(kUser);
  (void)daemon_.ask(client, kOneGpu);
  (void)daemon_.ask(client, limit_to(150));
  daemon_.world.steps->dead = true;
  EXPECT_EQ(tell(wire::JobEnd{7, {kGpu}}).report.outcome, Restoration::failed);
  daemon_.world.steps->dead = false;
  EXPECT_EQ(tell(wire::JobEnd{7, {kGpu}}).report.outcome, Restoration::restored);
  EXPECT_TRUE(daemon_.as_found());
}

TEST_F(JobsOnGpus, ClearingForAHealthCheckEndsLeasesAndLeavesTheGpusTheirJobs) {
  tell(wire::JobBegin{7, kUser, {kGpu}});
  const auto client = daemon_.connect(kUser);
  (void)daemon_.ask(client, kOneGpu);
  (void)daemon_.ask(client, limit_to(150));
  EXPECT_EQ(tell(wire::JobEnd{{}, {kGpu}}).report.outcome, Restoration::restored);
  EXPECT_TRUE(daemon_.as_found());
  EXPECT_TRUE(granted(kUser));
}

TEST_F(JobsOnGpus, TheEnergyOfAJobIsWhatItsGpusCountersCounted) {
  auto& gpu = daemon_.world.gpu();
  gpu.energy_j = 1000;
  tell(wire::JobBegin{7, kUser, {kGpu}});
  gpu.energy_j = 4500.5;
  daemon_.pass(20_s);
  const auto cleared = tell(wire::JobEnd{7, {kGpu}});
  ASSERT_TRUE(cleared.energy && cleared.duration);
  EXPECT_DOUBLE_EQ(cleared.energy->value(), 3500.5);
  EXPECT_NEAR(cleared.duration->value(), 20, 0.6);
  EXPECT_FALSE(tell(wire::JobEnd{7, {kGpu}}).energy) << "of no job that was told";
  tell(wire::JobBegin{8, kUser, {kGpu}});
  gpu.energy_j = 3;
  EXPECT_FALSE(tell(wire::JobEnd{8, {kGpu}}).energy) << "a reset in between";
}

TEST_F(JobsOnGpus, OnlyRootTellsOfJobs) {
  const auto user = daemon_.connect(kUser);
  EXPECT_EQ(refusal(daemon_.ask(user, wire::JobBegin{7, kUser, {kGpu}})), ErrorCode::no_permission);
  EXPECT_EQ(refusal(daemon_.ask(user, wire::JobEnd{7, {kGpu}})), ErrorCode::no_permission);
  EXPECT_FALSE(granted(kUser));
  EXPECT_EQ(refusal(daemon_.ask(prolog_, wire::JobBegin{7, kUser, {}})), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(daemon_.ask(prolog_, wire::JobBegin{7, kUser, {{"GPU-z"}}})), ErrorCode::not_found);
}

TEST_F(JobsOnGpus, AKilledPrologLeavesNothingHalfDone) {
  daemon_.owner().hangs = true;
  daemon_.send(prolog_, wire::JobBegin{7, kUser, {kGpu, kOther}});
  daemon_.disconnect(prolog_);
  daemon_.owner().hangs = false;
  daemon_.settle();
  prolog_ = daemon_.connect(kRoot);
  tell(wire::JobEnd{7, {kGpu, kOther}});
  EXPECT_FALSE(granted(kUser));
}

TEST(JobsKept, OutliveRubatodAndNotTheMachine) {
  const Jobs jobs{{{"GPU-a"}, {12, 1000, TimePoint{5'000'000'000}, 77}},
                  {{"GPU-b"}, {13, 0, TimePoint{6}, {}}}};
  const std::string text = print_jobs(jobs, "boot");
  const Jobs read = parse_jobs(text, "boot");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read.at({"GPU-a"}).slurm_job, 12);
  EXPECT_EQ(read.at({"GPU-a"}).user, 1000U);
  EXPECT_EQ(read.at({"GPU-a"}).began.ns, 5'000'000'000);
  EXPECT_EQ(read.at({"GPU-a"}).energy_mj, 77);
  EXPECT_FALSE(read.at({"GPU-b"}).energy_mj);
  EXPECT_TRUE(parse_jobs(text, "another").empty());
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_TRUE(parse_jobs(text.substr(0, size), "boot").size() < 2) << size;
  EXPECT_TRUE(parse_jobs("rubato-jobs/1 boot\nGPU-a 12 -1 0 0\n", "boot").empty());
}

TEST(JobsKept, LieInAFileOfTheJournalFolder) {
  const auto path = std::filesystem::temp_directory_path() / cat("rubato-jobs-", ::getpid());
  const auto folder = guard::Folder::make(path, 0700, std::make_shared<guard::FileOps>());
  ASSERT_TRUE(folder.has_value());
  const JobsFile file(*folder, "boot");
  EXPECT_TRUE(file.read().empty());
  ASSERT_TRUE(file.keep({{{"GPU-a"}, {12, 1000, {}, 77}}}).has_value());
  EXPECT_EQ(JobsFile(*folder, "boot").read().at({"GPU-a"}).slurm_job, 12);
  ASSERT_TRUE(file.keep({}).has_value());
  EXPECT_TRUE(file.read().empty());
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace rubato::daemon
