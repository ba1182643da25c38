#include "measure/sampler.h"

#include <gmock/gmock.h>

#include <functional>

namespace rubato::measure {
namespace {

using testing::HasSubstr;

TimePoint at_s(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

// A GPU that answers what the test tells it to, at the time of the test's clock.
class ScriptedGpu final : public device::Gpu {
 public:
  ScriptedGpu(const VirtualClock& clock, std::optional<Seconds> period) : clock_(clock) {
    identity_.name = "scripted";
    facts_.update_period = period;
  }
  std::function<bool()> lost = [] { return false; };
  bool readable = true;
  int fast_calls = 0;
  int slow_calls = 0;

  const GpuIdentity& identity() const override { return identity_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  const SensorFacts& sensor() const override { return facts_; }
  Kind kind() const override { return Kind::modelled; }
  Result<FastReading> read_fast() override {
    ++fast_calls;
    if (lost()) return fail(ErrorCode::device_lost, "scripted: the GPU has fallen off the bus");
    if (!readable) return FastReading{clock_.now(), std::nullopt, std::nullopt};
    return FastReading{clock_.now(), 100_W, std::nullopt};
  }
  Result<SlowReading> read_slow() override {
    ++slow_calls;
    if (lost()) return fail(ErrorCode::device_lost, "scripted: the GPU has fallen off the bus");
    SlowReading slow;
    slow.at = clock_.now();
    return slow;
  }
  Result<PowerLimits> power_limits() override { return fail(ErrorCode::not_supported, "scripted"); }
  Result<device::ClockTable> supported_clocks() override {
    return fail(ErrorCode::not_supported, "scripted");
  }
  Result<std::vector<ComputeProcess>> compute_processes() override { return std::vector<ComputeProcess>{}; }
  CallCost cost() const override {
    return {static_cast<std::uint64_t>(fast_calls + slow_calls), Seconds(0.001 * (fast_calls + slow_calls))};
  }

 private:
  const VirtualClock& clock_;
  GpuIdentity identity_;
  Capabilities capabilities_;
  SensorFacts facts_;
};

struct Gap {
  std::size_t gpu;
  TimePoint begin;
  TimePoint end;
  std::string why;
};

class Collector final : public SampleSink {
 public:
  std::vector<std::pair<std::size_t, TimePoint>> fast;
  std::vector<std::pair<std::size_t, TimePoint>> slow;
  std::vector<Gap> gaps;
  void on_fast(std::size_t gpu, const FastReading& r) override { fast.emplace_back(gpu, r.at); }
  void on_slow(std::size_t gpu, const SlowReading& r) override { slow.emplace_back(gpu, r.at); }
  void on_gap(std::size_t gpu, TimePoint begin, TimePoint end, const std::string& why) override {
    gaps.push_back({gpu, begin, end, why});
  }
};

void run_until(Sampler& sampler, VirtualClock& clock, double end_s) {
  while (sampler.next_due() < at_s(end_s)) {
    clock.advance_to(sampler.next_due());
    sampler.step(clock.now());
  }
  clock.advance_to(at_s(end_s));
}

TEST(Sampler, ReadsAtTheSensorsPaceAndTheRestOnceASecond) {
  VirtualClock clock;
  ScriptedGpu gpu(clock, 0.02_s);
  Collector sink;
  Sampler sampler({&gpu}, sink, clock.now());
  run_until(sampler, clock, 10);
  EXPECT_EQ(sink.fast.size(), 500U);
  EXPECT_EQ(sink.slow.size(), 10U);
  EXPECT_TRUE(sink.gaps.empty());
  EXPECT_EQ(sampler.cost().calls, 510U);
  EXPECT_EQ(sampler.ticks(), 510U);
}

TEST(Sampler, AnUnknownSensorIsReadTenTimesASecondAndNoneFasterThanAHundred) {
  VirtualClock clock;
  ScriptedGpu unknown(clock, std::nullopt);
  ScriptedGpu eager(clock, 0.001_s);
  Collector sink;
  Sampler sampler({&unknown, &eager}, sink, clock.now());
  EXPECT_EQ(sampler.period(0), 0.1_s);
  EXPECT_EQ(sampler.period(1), 0.01_s);
}

TEST(Sampler, SlowReadingsOfSeveralGpusShareNoTickAndCauseNoExtraWakeUps) {
  VirtualClock clock;
  ScriptedGpu a(clock, 0.1_s);
  ScriptedGpu b(clock, 0.1_s);
  Collector sink;
  Sampler sampler({&a, &b}, sink, clock.now());
  int wakes = 0;
  while (sampler.next_due() < at_s(5)) {
    clock.advance_to(sampler.next_due());
    sampler.step(clock.now());
    ++wakes;
  }
  EXPECT_EQ(wakes, 50);
  EXPECT_EQ(sink.slow.size(), 10U);
  for (std::size_t i = 1; i < sink.slow.size(); ++i) EXPECT_NE(sink.slow[i - 1].second, sink.slow[i].second);
}

TEST(Sampler, ALateTickIsMadeOnceAndTheHoleIsReported) {
  VirtualClock clock;
  ScriptedGpu gpu(clock, 0.1_s);
  Collector sink;
  Sampler sampler({&gpu}, sink, clock.now());
  run_until(sampler, clock, 1);
  clock.advance_to(at_s(3.05));
  const int before = gpu.fast_calls;
  sampler.step(clock.now());
  sampler.step(clock.now());
  EXPECT_EQ(gpu.fast_calls, before + 1);
  EXPECT_EQ(sampler.next_due(), at_s(3.1));
  ASSERT_EQ(sink.gaps.size(), 1U);
  EXPECT_EQ(sink.gaps[0].begin, at_s(0.9));
  EXPECT_EQ(sink.gaps[0].end, at_s(3.05));
  EXPECT_THAT(sink.gaps[0].why, HasSubstr("late"));
}

TEST(Sampler, ALostGpuIsAskedLessAndLessOftenAndTheOtherGoesOn) {
  VirtualClock clock;
  ScriptedGpu lost(clock, 0.1_s);
  ScriptedGpu good(clock, 0.1_s);
  Collector sink;
  Sampler sampler({&lost, &good}, sink, clock.now());
  run_until(sampler, clock, 1);
  lost.lost = [] { return true; };
  const int before = lost.fast_calls + lost.slow_calls;
  run_until(sampler, clock, 61);
  // 0.1, 0.2, 0.4 ... up to 5 s between tries: about 6 in the first seconds and 11 after.
  EXPECT_LE(lost.fast_calls + lost.slow_calls - before, 20);
  EXPECT_EQ(good.fast_calls, 610);
  EXPECT_TRUE(sink.gaps.empty());

  lost.lost = [] { return false; };
  run_until(sampler, clock, 70);
  ASSERT_EQ(sink.gaps.size(), 1U);
  EXPECT_EQ(sink.gaps[0].gpu, 0U);
  EXPECT_EQ(sink.gaps[0].begin, at_s(0.9));
  EXPECT_LE(sink.gaps[0].end, at_s(66.1));
  EXPECT_THAT(sink.gaps[0].why, HasSubstr("fallen off the bus"));
  const int back = lost.fast_calls;
  run_until(sampler, clock, 71);
  EXPECT_EQ(lost.fast_calls - back, 10);
}

TEST(Sampler, ReadingsWithNeitherPowerNorEnergyAreAGapThatFinishCloses) {
  VirtualClock clock;
  ScriptedGpu gpu(clock, 0.1_s);
  gpu.readable = false;
  Collector sink;
  Sampler sampler({&gpu}, sink, clock.now());
  run_until(sampler, clock, 2);
  sampler.finish(clock.now());
  EXPECT_TRUE(sink.fast.empty());
  ASSERT_EQ(sink.gaps.size(), 1U);
  EXPECT_EQ(sink.gaps[0].begin, at_s(0));
  EXPECT_EQ(sink.gaps[0].end, at_s(2));
}

}  // namespace
}  // namespace rubato::measure
