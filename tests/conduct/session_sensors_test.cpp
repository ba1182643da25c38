// A session beside one GPU that says what it is told to say: what becomes of odd readings.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <functional>

#include "base/random.h"
#include "base/text.h"
#include "conduct/session.h"
#include "govern/registry.h"
#include "record/reader.h"

namespace rubato::conduct {
namespace {
namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr TimePoint kBegin{1'000'000'000'000};

/// 100 W by power and counter at 100 ms, unless `say` has its own words.
class SpokenGpu final : public device::Gpu {
 public:
  explicit SpokenGpu(const VirtualClock& clock) : clock_(clock) {}
  const GpuIdentity& identity() const override { return identity_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  const SensorFacts& sensor() const override { return facts; }
  Kind kind() const override { return Kind::measured; }
  Result<FastReading> read_fast() override {
    ++reads;
    const double t = (clock_.now() - kBegin).value();
    const double tick = std::floor(t * 10 + 1e-6) / 10;
    FastReading usual{.at = clock_.now(), .power = 100_W, .energy_counter = Joules(100 * tick)};
    return say ? say(t, usual) : usual;
  }
  Result<SlowReading> read_slow() override { return SlowReading{.at = clock_.now(), .sm_clock = 1000_MHz}; }
  Result<PowerLimits> power_limits() override { return PowerLimits{50_W, 300_W, 300_W, 300_W, 300_W}; }
  Result<device::ClockTable> supported_clocks() override { return fail(ErrorCode::not_supported, "none"); }
  Result<std::vector<ComputeProcess>> compute_processes() override { return std::vector<ComputeProcess>{}; }
  CallCost cost() const override { return {}; }

  std::function<Result<FastReading>(double, FastReading)> say;
  SensorFacts facts{
      .update_period = 100_ms, .averaging_window = 25_ms, .counter_period = 100_ms, .source = "a table"};
  int reads = 0;

 private:
  const VirtualClock& clock_;
  GpuIdentity identity_{{"GPU-1"}, "Spoken", 0, ""};
  Capabilities capabilities_;
};

class SessionSensors : public testing::Test {
 protected:
  SessionSensors() {
    static int made = 0;
    folder_ = fs::path(testing::TempDir()) / cat("rubato-sensors-", ::getpid(), "-", made++);
    restart();
  }
  ~SessionSensors() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  /// The next run on the same GPU.
  void restart() {
    clock_ = std::make_unique<VirtualClock>();
    clock_->advance_to(kBegin);
    gpu_ = std::make_unique<SpokenGpu>(*clock_);
    spoken_ = gpu_.get();
    warnings_.clear();
  }
  void start(const std::string& driver = "550.1") {
    SessionParts parts;
    parts.gpus.push_back(std::move(gpu_));
    parts.strategy = govern::make_strategy("measure-only", {}).value();
    record::RunInfo info{
        .run_id = cat("2026-", runs_++), .mode = "measure", .started_at = "2026-11-21T08:00:00Z"};
    info.begin = kBegin;
    parts.writer = record::Writer::create(folder_ / "runs", info).value();
    parts.warn = [this](const Error& error) { warnings_.push_back(error.what); };
    parts.driver_version = driver;
    session_ = std::make_unique<Session>(std::move(parts), kBegin);
  }
  void run_until(double seconds) {
    const TimePoint end = kBegin + Seconds(seconds);
    while (session_->next_due() < end) {
      clock_->advance_to(session_->next_due());
      session_->step(clock_->now());
    }
    clock_->advance_to(end);
  }
  record::RunRecord finish() {
    session_->finish(clock_->now(), {});
    return record::read_run(session_->record_file().value()).value();
  }

  fs::path folder_;
  std::unique_ptr<VirtualClock> clock_;
  std::unique_ptr<SpokenGpu> gpu_;
  SpokenGpu* spoken_ = nullptr;
  std::vector<std::string> warnings_;
  std::unique_ptr<Session> session_;
  int runs_ = 0;
};

TEST_F(SessionSensors, APauseOfRubatoIsOneGap) {
  start();
  run_until(5);
  clock_->advance_to(kBegin + 15_s);
  run_until(20);
  const auto run = finish();
  ASSERT_THAT(run.gaps, SizeIs(1));
  EXPECT_FALSE(run.gaps[0].gpu);
  EXPECT_NEAR((run.gaps[0].end - run.gaps[0].begin).value(), 10, 0.2);
  EXPECT_NEAR(run.end->devices[0].energy->energy.value(), 2000, 20) << "the counter went on";
}

TEST_F(SessionSensors, AGpuThatNeverAnswersIsOneGap) {
  spoken_->say = [](double, FastReading) -> Result<FastReading> {
    return fail(ErrorCode::device_lost, "fallen off the bus");
  };
  start();
  run_until(20);
  const auto run = finish();
  EXPECT_THAT(run.gaps, SizeIs(1));
  EXPECT_FALSE(run.end->devices[0].energy);
}

TEST_F(SessionSensors, AGpuLostInMidRunIsSaidOnceAndWhatWasMeasuredIsKept) {
  spoken_->say = [](double t, FastReading usual) -> Result<FastReading> {
    if (t > 10) return fail(ErrorCode::device_lost, "fallen off the bus", "dmesg | grep Xid");
    return usual;
  };
  start();
  run_until(60);
  const auto run = finish();
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("is lost"));
  EXPECT_THAT(warnings_[0], HasSubstr("fallen off the bus"));
  EXPECT_NEAR(static_cast<double>(run.devices[0].fast.size()), 100, 2);
  EXPECT_TRUE(std::any_of(run.decisions.begin(), run.decisions.end(),
                          [](const auto& d) { return d.action == "gpu_lost"; }));
}

TEST_F(SessionSensors, ACallThatFailsForAMomentIsNotWorthAWord) {
  spoken_->say = [](double t, FastReading usual) -> Result<FastReading> {
    if (t > 10 && t < 11) return fail(ErrorCode::timeout, "no answer in time");
    return usual;
  };
  start();
  run_until(20);
  const auto run = finish();
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_THAT(run.gaps, SizeIs(1));
}

TEST_F(SessionSensors, ALeapOfTheCounterIsSaidOnceAndIsNoEnergy) {
  spoken_->say = [](double t, FastReading usual) -> Result<FastReading> {
    if (t > 10) usual.energy_counter = *usual.energy_counter + 1e9_J;
    if (t > 15) usual.energy_counter = *usual.energy_counter + 1e9_J;
    return usual;
  };
  start();
  run_until(20);
  const auto run = finish();
  EXPECT_NEAR(run.end->devices[0].energy->energy.value(), 2000, 30);
  EXPECT_THAT(run.end->devices[0].energy->source.quality, HasSubstr("2 impossible jumps"));
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("leapt by"));
  EXPECT_THAT(run.devices[0].counter_edges, SizeIs(3));
}

TEST_F(SessionSensors, ADriverReloadedInMidRunIsSaidOnce) {
  spoken_->say = [](double t, FastReading usual) -> Result<FastReading> {
    if (t > 10) usual.energy_counter = *usual.energy_counter - 950_J;
    return usual;
  };
  start();
  run_until(20);
  const auto run = finish();
  EXPECT_NEAR(run.end->devices[0].energy->energy.value(), 2000, 100);
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("reset this GPU or reloaded its driver"));
}

TEST_F(SessionSensors, ModuleAndMemoryHaveWindowsOfTheirOwn) {
  spoken_->say = [](double t, FastReading usual) -> Result<FastReading> {
    usual.module_power = 500_W;
    usual.module_energy_counter = Joules(500 * std::floor(t * 10 + 1e-6) / 10);
    usual.memory_power = 30_W;
    return usual;
  };
  start();
  run_until(20);
  const auto run = finish();
  const auto& device = run.end->devices[0];
  EXPECT_NEAR(device.energy->energy.value(), 2000, 20);
  EXPECT_EQ(device.energy->source.scope, Scope::gpu);
  ASSERT_THAT(device.other_scopes, SizeIs(2));
  EXPECT_NEAR(device.other_scopes[0].energy.value(), 10000, 100);
  EXPECT_EQ(device.other_scopes[0].source.scope, Scope::module);
  EXPECT_NEAR(device.other_scopes[1].energy.value(), 600, 6);
  EXPECT_EQ(device.other_scopes[1].source.scope, Scope::memory);
  EXPECT_EQ(run.devices[0].fast.back().module_power, 500_W);
  const auto& sources = run.devices[0].sources;
  const auto named = std::find_if(sources.begin(), sources.end(),
                                  [](const Source& s) { return s.name == "module_energy_counter"; });
  ASSERT_NE(named, sources.end());
  EXPECT_EQ(named->scope, Scope::module);
}

/// Refreshed every 40 ms, with noise.
std::function<Result<FastReading>(double, FastReading)> noisy() {
  return [](double t, FastReading usual) -> Result<FastReading> {
    const double refresh = std::floor(t / 0.04 + 1e-6);
    Random noise(static_cast<std::uint64_t>(refresh) + 1);
    usual.power = Watts(std::round(1e3 * (100 + noise.normal())) / 1e3);
    usual.energy_counter = Joules(std::floor(4e3 * refresh + 100 * noise.uniform()) / 1e3);
    return usual;
  };
}

TEST_F(SessionSensors, AnUnknownSensorIsFoundOnceAndKnownToTheNextRun) {
  spoken_->say = noisy();
  spoken_->facts = {.source = "nothing published"};
  start();
  run_until(20);
  const auto first = finish();
  const SensorFacts& found = first.devices[0].info.sensor;
  ASSERT_TRUE(found.update_period);
  EXPECT_NEAR(found.update_period->value(), 0.04, 0.002);
  EXPECT_NEAR(found.counter_period.value().value(), 0.04, 0.002);
  EXPECT_THAT(found.source, HasSubstr("found on this GPU on 2026-11-21 (driver 550.1)"));
  const auto kept = record::load_sensor_facts(folder_ / "sensors", {"GPU-1"}, "550.1");
  ASSERT_TRUE(kept) << kept.error().what;
  EXPECT_EQ(kept->update_period, found.update_period);

  restart();
  spoken_->say = noisy();
  spoken_->facts = {.source = "nothing published"};
  start();
  run_until(20);
  EXPECT_NEAR(spoken_->reads, 20 / found.update_period->value(), 3) << "no burst, at the sensor's own pace";
  static_cast<void>(finish());

  restart();
  spoken_->say = noisy();
  spoken_->facts = {.source = "nothing published"};
  start("560.0");
  run_until(0.2);
  EXPECT_GT(spoken_->reads, 30) << "another driver: looked at again";
  static_cast<void>(finish());
}

}  // namespace
}  // namespace rubato::conduct
