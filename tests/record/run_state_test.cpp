#include "record/run_state.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>

#include "base/fd.h"
#include "base/text.h"

namespace rubato::record {
namespace {

namespace fs = std::filesystem;

RunState made() {
  RunState state;
  state.run_id = "20261122-121000-000-aaaa";
  state.mode = "run";
  state.command = {"python3", "train.py", "\xff <script>"};
  state.started_at = "2026-11-22T12:10:00+0000";
  state.gpu_list = "sim:v100";
  state.pid = 4711;
  state.job_pid = 4712;
  state.written_ns = 123'456'789;
  state.clock_rate = 20;
  state.running = Seconds(754);
  state.strategy = "rubato";
  state.doing = "hold";
  state.setting = {.power_limit = 156_W, .sm_clock = ClockRange{900_MHz, 1380_MHz}};
  state.why = "it saves most";
  state.iterations = 1824;
  state.iteration = IterationEstimate{.source = ProgressSource::kernels, .periodic = true, .period = 0.412_s};
  state.iteration->relation = PeriodRelation::multiple;
  state.iteration->confidence = 0.99;
  state.saving = RunStateSaving{{0.123, 0.004}, {-0.01, 0.003}, Kind::modelled};
  RunStateGpu gpu;
  gpu.uuid = "GPU-1";
  gpu.name = "V100";
  gpu.kind = Kind::modelled;
  gpu.used_by_job = false;
  gpu.power = 155.25_W;
  gpu.in_force = {.power_limit = 156_W};
  gpu.found_limit = 200_W;
  state.gpus = {gpu};
  return state;
}

TEST(RunState, ComesBackAsItWas) {
  const RunState before = made();
  const auto after = parse_run_state(write_run_state(before));
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_EQ(after->run_id, before.run_id);
  EXPECT_EQ(after->command.at(1), "train.py");
  EXPECT_EQ(after->command.at(2), "\xef\xbf\xbd <script>") << "what is no UTF-8 is replaced";
  EXPECT_EQ(after->job_pid, before.job_pid);
  EXPECT_EQ(after->written_ns, before.written_ns);
  EXPECT_EQ(after->setting, before.setting);
  EXPECT_EQ(after->iteration->source, ProgressSource::kernels);
  EXPECT_EQ(after->iteration->relation, PeriodRelation::multiple);
  EXPECT_EQ(after->saving->slower.value, -0.01);
  EXPECT_EQ(after->gpus.at(0).used_by_job, false);
  EXPECT_EQ(after->gpus.at(0).in_force, before.gpus[0].in_force);
  EXPECT_FALSE(after->gpus.at(0).energy);
  EXPECT_EQ(write_run_state(*after), write_run_state(before));
}

TEST(RunState, WhatCannotBeIsRefused) {
  EXPECT_FALSE(parse_run_state("null"));
  EXPECT_FALSE(parse_run_state("{}"));
  const std::string text = write_run_state(made());
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"\"iterations\":1824", "\"iterations\":1e99"},
        {"\"power_w\":155.25", "\"power_w\":-5"},
        {"\"pid\":4711", "\"pid\":99999999999"},
        {"rubato.run_state/1", "rubato.run_state/2"},
        {"[900.0,1380.0]", "[900.0]"},
        {"\"modelled\"", "\"invented\""}}) {
    std::string bad = text;
    bad.replace(bad.find(from), from.size(), to);
    EXPECT_FALSE(parse_run_state(bad)) << to;
  }
}

TEST(RunState, AnyDamageIsAnErrorOrAState) {
  const std::string text = write_run_state(made());
  EXPECT_TRUE(rc::check([&text] {
    std::string bad = text;
    const auto changes = *rc::gen::inRange(1, 6);
    for (int i = 0; i < changes; ++i)
      bad[*rc::gen::inRange<std::size_t>(0, bad.size())] =
          *rc::gen::oneOf(rc::gen::element('"', '{', '9', '-', 'n'), rc::gen::arbitrary<char>());
    const auto parsed = parse_run_state(bad);
    RC_ASSERT(parsed || !parsed.error().what.empty());
  }));
}

class RunStates : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / cat("rubato-run-state-", getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "marks-one");
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(RunStates, AreOfRunsWhoseRubatoLives) {
  const fs::path run = folder_ / "marks-one";
  ASSERT_TRUE(save_run_state(run, made()));
  EXPECT_TRUE(living_run_states(folder_).empty()) << "nobody holds the folder";
  {
    const ScopedFd lock(::open(run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0);
    const auto states = living_run_states(folder_);
    ASSERT_EQ(states.size(), 1U);
    EXPECT_EQ(states[0].run_id, made().run_id);
    std::ofstream(run / "state.json") << "{\"schema\":";
    EXPECT_TRUE(living_run_states(folder_).empty()) << "damaged";
  }
  EXPECT_TRUE(living_run_states(folder_ / "nowhere").empty());
}

TEST_F(RunStates, AreReadByNobodyElse) {
  ASSERT_TRUE(save_run_state(folder_ / "marks-one", made()));
  EXPECT_EQ(fs::status(folder_ / "marks-one" / "state.json").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace
}  // namespace rubato::record
