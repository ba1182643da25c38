#include "conduct/live_meters.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>

#include "base/text.h"

namespace rubato::conduct {
namespace {

using Wall = std::chrono::steady_clock;

// Meters that could tell more often are not asked more often: each look is a wake-up.
constexpr double kFastestS = 0.1;
constexpr double kSlowestS = 600;
// News nobody takes (a session that hangs in a driver call) does not pile up without end.
constexpr std::size_t kMostNews = 20'000;

double pace_of(const meter::Meter& meter) {
  return std::clamp(meter.period().value(), kFastestS, kSlowestS);
}

std::chrono::nanoseconds in_nanoseconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

}  // namespace

// Owned by the object and by every thread: one that hangs goes on using it.
struct LiveMeters::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  std::uint64_t asked = 0;              // how often look() wanted a reading of every quick meter
  std::vector<std::uint64_t> answered;  // of each meter: the latest of these that its readings are later than
  std::size_t ended = 0;
  bool left_behind = false;
  std::deque<MeterNews> news;

  void put(MeterNews one) {
    const std::lock_guard lock(mutex);
    news.push_back(std::move(one));
    if (news.size() > kMostNews) news.pop_front();
  }
};

namespace {

/// One meter and where it stands among the others.
struct Line {
  std::shared_ptr<const Clock> clock;
  std::unique_ptr<meter::Meter> meter;
  std::size_t number;
  std::size_t first;  // of its channels
  bool quick;
};

MeterNews look(Line& line) {
  MeterNews news{.meter = line.number};
  auto readings = line.meter->read();
  if (readings) {
    news.readings = std::move(*readings);
    news.trouble = line.meter->complaint();
  } else {
    news.trouble = std::move(readings.error());
  }
  for (MeterReading& reading : news.readings) reading.channel += line.first;
  news.at = line.clock->now();
  return news;
}

template <class Shared>
void follow(Shared& shared, Line line) {
  const auto pace = in_nanoseconds(pace_of(*line.meter));
  std::uint64_t asked = 0;
  const auto wanted = [&] { return line.quick && shared.asked != asked; };
  for (bool last = false; !last;) {
    const auto began = Wall::now();
    {
      const std::lock_guard lock(shared.mutex);
      asked = shared.asked;
    }
    shared.put(look(line));
    std::unique_lock lock(shared.mutex);
    shared.answered[line.number] = asked;
    shared.changed.notify_all();
    shared.changed.wait_until(lock, began + pace, [&] { return shared.stop || wanted(); });
    last = shared.stop;
  }
  shared.put(look(line));
  line.meter.reset();
  const std::lock_guard lock(shared.mutex);
  ++shared.ended;
  shared.changed.notify_all();
}

record::ChannelInfo describe(const meter::Meter& meter, const MeterChannel& channel, double rate) {
  record::ChannelInfo info{meter.name(), channel};
  SensorFacts& sensor = info.channel.sensor;
  // What is asked for less often than it changes is as old as the asking.
  const auto in_run_time = [rate](const std::optional<Seconds>& period, double at_least) {
    return Seconds(rate * std::max(period.value_or(Seconds(0)).value(), at_least));
  };
  sensor.update_period = in_run_time(sensor.update_period, pace_of(meter));
  if (sensor.counter_period) sensor.counter_period = in_run_time(sensor.counter_period, pace_of(meter));
  if (channel.quiet_for) info.channel.quiet_for = in_run_time(channel.quiet_for, 0);
  if (sensor.averaging_window) sensor.averaging_window = in_run_time(sensor.averaging_window, 0);
  if (rate != 1.0)
    sensor.source +=
        cat(sensor.source.empty() ? "" : "; ", "real watts on the clock of a simulated world that runs ",
            number(rate, 2), " times faster: they do not belong to its seconds");
  return info;
}

}  // namespace

LiveMeters::LiveMeters(std::vector<std::unique_ptr<meter::Meter>> meters,
                       const std::shared_ptr<const Clock>& clock)
    : shared_(std::make_shared<Shared>()) {
  const double rate = 1.0 / clock->wall(Seconds(1.0)).value();
  // Signals are for the thread that waits for the job.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  shared_->answered.resize(meters.size());
  for (auto& owned : meters) {
    quick_.push_back(owned->period().value() <= kFastestS);
    Line line{.clock = clock,
              .meter = std::move(owned),
              .number = threads_.size(),
              .first = channels_.size(),
              .quick = quick_.back()};
    for (const MeterChannel& channel : line.meter->channels())
      channels_.push_back(describe(*line.meter, channel, rate));
    threads_.emplace_back(
        [shared = shared_, line = std::move(line)]() mutable { follow(*shared, std::move(line)); });
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LiveMeters::~LiveMeters() {
  finish();
}

std::vector<MeterNews> LiveMeters::take() {
  const std::lock_guard lock(shared_->mutex);
  std::vector<MeterNews> out(std::make_move_iterator(shared_->news.begin()),
                             std::make_move_iterator(shared_->news.end()));
  shared_->news.clear();
  return out;
}

void LiveMeters::look(Seconds patience) {
  std::unique_lock lock(shared_->mutex);
  if (threads_.empty()) return;
  const std::uint64_t asked = ++shared_->asked;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, in_nanoseconds(patience.value()), [&] {
    for (std::size_t i = 0; i < quick_.size(); ++i)
      if (quick_[i] && shared_->answered[i] < asked) return false;
    return true;
  });
}

bool LiveMeters::finish(Seconds patience) {
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->changed.notify_all();
  if (threads_.empty()) return !shared_->left_behind;
  const bool all = shared_->changed.wait_for(lock, in_nanoseconds(patience.value()),
                                             [this] { return shared_->ended == threads_.size(); });
  lock.unlock();
  for (std::thread& thread : threads_) all ? thread.join() : thread.detach();
  threads_.clear();
  shared_->left_behind = !all;
  return all;
}

}  // namespace rubato::conduct
