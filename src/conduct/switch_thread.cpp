#include "conduct/switch_thread.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace rubato::conduct {
namespace {

// A world that runs faster than the wall, or a clock that jumps: looked at anew after this long.
constexpr double kLongestSleepS = 1.0;

}  // namespace

SwitchThread::SwitchThread(std::shared_ptr<const Clock> clock, govern::SwitchLimits limits)
    : clock_(std::move(clock)), queue_(limits), thread_([this] { loop(); }) {}

SwitchThread::~SwitchThread() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SwitchThread::send_by(SendClocks send) {
  const std::lock_guard lock(mutex_);
  send_ = std::move(send);
}

void SwitchThread::plan(std::vector<govern::TimedSwitch> upcoming) {
  {
    const std::lock_guard lock(mutex_);
    queue_.plan(std::move(upcoming));
  }
  changed_.notify_all();
}

void SwitchThread::stop() {
  std::unique_lock lock(mutex_);
  queue_.clear();
  queue_.forget_clocks();
  idle_.wait(lock, [this] { return !sending_; });
}

SwitcherState SwitchThread::state() const {
  const std::lock_guard lock(mutex_);
  SwitcherState state = state_;
  state.counts = queue_.counts();
  return state;
}

void SwitchThread::loop() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    const auto due = queue_.next_due();
    if (!due || state_.failure || !send_) {
      changed_.wait(lock);
      continue;
    }
    if (const Seconds left = *due - clock_->now(); left > Seconds(0)) {
      const double wall = std::min(clock_->wall(left).value(), kLongestSleepS);
      changed_.wait_for(lock, std::chrono::duration<double>(wall));
      continue;
    }
    const auto one = queue_.take(clock_->now());
    if (!one) continue;
    sending_ = true;
    lock.unlock();
    const TimePoint begin = clock_->now();
    const Status sent = send_(one->clocks);
    const Seconds took = clock_->now() - begin;
    lock.lock();
    sending_ = false;
    state_.inside += took;
    if (!sent) state_.failure = sent.error();
    idle_.notify_all();
  }
}

}  // namespace rubato::conduct
