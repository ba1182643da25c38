// Threads and real time: one meter answers, one is slow, one hangs.
#include "conduct/live_meters.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace rubato::conduct {
namespace {

using testing::SizeIs;
using Wall = std::chrono::steady_clock;

/// A door that stays shut until it is opened.
class Door {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

using Counts = std::atomic<int>;

class FakeMeter final : public meter::Meter {
 public:
  FakeMeter(std::string name, std::size_t channels, std::shared_ptr<Door> door = nullptr,
            std::shared_ptr<Counts> reads = nullptr, Seconds period = 0.2_s)
      : name_(std::move(name)), door_(std::move(door)), reads_(std::move(reads)), period_(period) {
    for (std::size_t i = 0; i < channels; ++i)
      channels_.push_back(
          {.name = "c", .sensor = {.update_period = 1_ms, .source = "made"}, .quiet_for = 60_s});
  }
  const std::string& name() const override { return name_; }
  const std::vector<MeterChannel>& channels() const override { return channels_; }
  Seconds period() const override { return period_; }
  Result<std::vector<MeterReading>> read() override {
    if (door_) door_->pass();
    if (reads_) ++*reads_;
    if (name_ == "broken") return fail(ErrorCode::timeout, "no answer");
    std::vector<MeterReading> out;
    for (std::size_t i = 0; i < channels_.size(); ++i) out.push_back({.channel = i, .power = 7_W});
    return out;
  }
  CallCost cost() const override { return {}; }

 private:
  std::string name_;
  std::vector<MeterChannel> channels_;
  std::shared_ptr<Door> door_;
  std::shared_ptr<Counts> reads_;
  Seconds period_;
};

std::vector<std::unique_ptr<meter::Meter>> list(std::unique_ptr<meter::Meter> a,
                                                std::unique_ptr<meter::Meter> b = nullptr) {
  std::vector<std::unique_ptr<meter::Meter>> out;
  out.push_back(std::move(a));
  if (b) out.push_back(std::move(b));
  return out;
}

/// News until `enough` says so, or a deadline no healthy machine misses.
template <class Enough>
std::vector<MeterNews> wait_for(LiveMeters& meters, Enough enough) {
  std::vector<MeterNews> all;
  const auto deadline = Wall::now() + std::chrono::seconds(30);
  while (!enough(all) && Wall::now() < deadline) {
    for (auto& one : meters.take()) all.push_back(std::move(one));
    std::this_thread::yield();
  }
  return all;
}

TEST(LiveMeters, NumberChannelsOverAllMeters) {
  LiveMeters meters(list(std::make_unique<FakeMeter>("a", 2), std::make_unique<FakeMeter>("b", 1)),
                    std::make_shared<RealClock>());
  ASSERT_THAT(meters.channels(), SizeIs(3));
  EXPECT_EQ(meters.channels()[2].meter, "b");
  EXPECT_EQ(meters.channels()[0].channel.sensor.update_period, 0.2_s)
      << "what is read five times a second is no fresher than that";
  const auto news = wait_for(meters, [](const auto& all) {
    return std::any_of(all.begin(), all.end(), [](const MeterNews& n) { return n.meter == 1; });
  });
  for (const MeterNews& one : news) {
    ASSERT_THAT(one.readings, SizeIs(one.meter == 0 ? 2 : 1));
    EXPECT_EQ(one.readings.back().channel, one.meter == 0 ? 1U : 2U);
  }
  EXPECT_TRUE(meters.finish(10_s));
}

TEST(LiveMeters, OneThatHangsDelaysNeitherTheOthersNorTheEnd) {
  const auto door = std::make_shared<Door>();
  {
    LiveMeters meters(
        list(std::make_unique<FakeMeter>("hangs", 1, door), std::make_unique<FakeMeter>("b", 1)),
        std::make_shared<RealClock>());
    const auto news = wait_for(meters, [](const auto& all) { return all.size() >= 3; });
    EXPECT_GE(news.size(), 3U);
    for (const MeterNews& one : news) EXPECT_EQ(one.meter, 1U);
    const auto began = Wall::now();
    EXPECT_FALSE(meters.finish(0.05_s));
    EXPECT_FALSE(meters.finish(0.05_s)) << "it stays left behind";
    EXPECT_LT(Wall::now() - began, std::chrono::seconds(5));
  }
  door->open();
}

TEST(LiveMeters, ReadOnceMoreAtTheEnd) {
  LiveMeters meters(list(std::make_unique<FakeMeter>("a", 1)), std::make_shared<RealClock>());
  wait_for(meters, [](const auto& all) { return !all.empty(); });
  const auto began = Wall::now();
  ASSERT_TRUE(meters.finish(10_s));
  EXPECT_GE(meters.take().size(), 1U);
  EXPECT_LT(Wall::now() - began, std::chrono::seconds(5));
}

TEST(LiveMeters, ALookAsksThoseThatCanTellAtOnce) {
  const auto quick = std::make_shared<Counts>();
  const auto slow = std::make_shared<Counts>();
  LiveMeters meters(list(std::make_unique<FakeMeter>("quick", 1, nullptr, quick, 0.01_s),
                         std::make_unique<FakeMeter>("slow", 1, nullptr, slow, 100_s)),
                    std::make_shared<RealClock>());
  wait_for(meters, [&](const auto&) { return *slow > 0; });
  for (int i = 0; i < 20; ++i) {
    const int before = *quick;
    meters.look(10_s);
    EXPECT_GT(*quick, before);
    const auto news = meters.take();
    EXPECT_TRUE(std::any_of(news.begin(), news.end(), [](const MeterNews& n) { return n.meter == 0; }));
  }
  EXPECT_EQ(*slow, 1);
}

TEST(LiveMeters, ALookWaitsNoLongerThanItsPatience) {
  const auto door = std::make_shared<Door>();
  {
    LiveMeters meters(list(std::make_unique<FakeMeter>("hangs", 1, door, nullptr, 0.01_s)),
                      std::make_shared<RealClock>());
    const auto began = Wall::now();
    meters.look(0.02_s);
    EXPECT_LT(Wall::now() - began, std::chrono::seconds(5));
  }
  door->open();
}

TEST(LiveMeters, TroubleIsNews) {
  LiveMeters meters(list(std::make_unique<FakeMeter>("broken", 1)), std::make_shared<RealClock>());
  const auto news = wait_for(meters, [](const auto& all) { return !all.empty(); });
  ASSERT_FALSE(news.empty());
  EXPECT_EQ(news[0].trouble.value().what, "no answer");
}

TEST(LiveMeters, OnAFasterClockThePeriodsAreItsOwnAndTheSourceSaysSo) {
  const LiveMeters meters(list(std::make_unique<FakeMeter>("a", 1)),
                          std::make_shared<ScaledClock>(TimePoint{0}, 20.0));
  const SensorFacts& sensor = meters.channels()[0].channel.sensor;
  EXPECT_NEAR(sensor.update_period->value(), 4, 1e-9);
  EXPECT_THAT(sensor.source, testing::HasSubstr("20 times faster"));
  EXPECT_NEAR(meters.channels()[0].channel.quiet_for->value(), 1200, 1e-6);
}

}  // namespace
}  // namespace rubato::conduct
