#include "measure/window_book.h"

#include <gmock/gmock.h>

namespace rubato::measure {
namespace {

using testing::HasSubstr;

/// Draws what the test says, and reads it without error every time it is asked.
class SteadyGpu final : public device::Gpu {
 public:
  explicit SteadyGpu(const VirtualClock& clock) : clock_(clock) {
    identity_.id = {"GPU-steady"};
    identity_.name = "steady";
    facts_.update_period = 100_ms;
  }
  Watts power = 100_W;
  bool silent = false;

  const GpuIdentity& identity() const override { return identity_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  const SensorFacts& sensor() const override { return facts_; }
  Kind kind() const override { return Kind::modelled; }
  Result<FastReading> read_fast() override {
    if (silent) return fail(ErrorCode::device_lost, "gone");
    return FastReading{.at = clock_.now(), .power = power};
  }
  Result<SlowReading> read_slow() override { return SlowReading{.at = clock_.now()}; }
  Result<PowerLimits> power_limits() override { return fail(ErrorCode::not_supported, "none"); }
  Result<device::ClockTable> supported_clocks() override { return fail(ErrorCode::not_supported, "none"); }
  Result<std::vector<ComputeProcess>> compute_processes() override { return std::vector<ComputeProcess>{}; }
  CallCost cost() const override { return {}; }

 private:
  const VirtualClock& clock_;
  GpuIdentity identity_;
  Capabilities capabilities_;
  SensorFacts facts_;
};

class WindowBookTest : public testing::Test {
 protected:
  void run(Seconds time) {
    const TimePoint end = clock_.now() + time;
    while (book_.next_due() < end) {
      clock_.advance_to(book_.next_due());
      book_.step(clock_.now());
    }
    clock_.advance_to(end);
  }
  double joules(const std::string& name) {
    const auto closed = book_.end(name, clock_.now());
    return closed && closed->gpus.front().energy ? closed->gpus.front().energy->energy.value() : -1;
  }

  VirtualClock clock_;
  SteadyGpu gpu_{clock_};
  WindowBook book_{{&gpu_}, {gpu_.sensor()}, clock_.now()};
};

TEST_F(WindowBookTest, AWindowHoldsWhatWasDrawnBetweenItsEdges) {
  run(1_s);
  ASSERT_TRUE(book_.begin("epoch", clock_.now()));
  run(10_s);
  EXPECT_NEAR(joules("epoch"), 1000, 1);
}

TEST_F(WindowBookTest, NestedWindowsAreCountedEach) {
  ASSERT_TRUE(book_.begin("outer", clock_.now()));
  run(5_s);
  ASSERT_TRUE(book_.begin("inner", clock_.now()));
  run(5_s);
  EXPECT_NEAR(joules("inner"), 500, 1);
  run(5_s);
  EXPECT_NEAR(joules("outer"), 1500, 1);
}

TEST_F(WindowBookTest, TwoWindowsOfOneBeginDoNotTakeItFromEachOther) {
  ASSERT_TRUE(book_.begin("a", clock_.now()));
  ASSERT_TRUE(book_.begin("b", clock_.now()));
  run(60_s);
  EXPECT_NEAR(joules("a"), 6000, 5);
  run(60_s);
  EXPECT_NEAR(joules("b"), 12000, 10);
}

TEST_F(WindowBookTest, ALongWindowIsWholeThoughItsReadingsAreForgotten) {
  ASSERT_TRUE(book_.begin("day", clock_.now()));
  run(Seconds(3600));
  EXPECT_NEAR(joules("day"), 360'000, 100);
}

TEST_F(WindowBookTest, ANameCanBeOpenOnlyOnce) {
  ASSERT_TRUE(book_.begin("epoch", clock_.now()));
  const auto again = book_.begin("epoch", clock_.now());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::conflict);
}

TEST_F(WindowBookTest, EndingWhatWasNeverBegunNamesWhatIsOpen) {
  ASSERT_TRUE(book_.begin("epoch", clock_.now()));
  const auto closed = book_.end("epochs", clock_.now());
  ASSERT_FALSE(closed);
  EXPECT_THAT(closed.error().hint, HasSubstr("epoch"));
}

TEST_F(WindowBookTest, ASilentGpuHasNoJoulesAndAReason) {
  gpu_.silent = true;
  ASSERT_TRUE(book_.begin("epoch", clock_.now()));
  run(5_s);
  const auto closed = book_.end("epoch", clock_.now());
  ASSERT_TRUE(closed);
  EXPECT_FALSE(closed->gpus.front().energy);
  EXPECT_FALSE(closed->gpus.front().why_missing.empty());
}

}  // namespace
}  // namespace rubato::measure
