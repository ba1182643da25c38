#include "conduct/block_keeper.h"

#include <algorithm>

namespace rubato::conduct {
namespace {

constexpr double kSensorUpdates = 50;
constexpr std::int64_t kFewestIterations = 4;
// Blocks grow with the run, so that a day has hundreds of them and not ten thousands.
constexpr double kShareOfRun = 0.01;
// Where iterations were seen and then none for this many block lengths and iterations, cuts go by time.
constexpr double kPatience = 4;

}  // namespace

BlockKeeper::BlockKeeper(TimePoint run_begin, Seconds sensor_period, Sink sink)
    : run_begin_(run_begin), sink_(std::move(sink)) {
  set_sensor_period(sensor_period);
}

void BlockKeeper::set_sensor_period(Seconds sensor_period) {
  shortest_ = std::max(Seconds(1.0), kSensorUpdates * sensor_period);
}

bool BlockKeeper::long_enough(TimePoint end) const {
  return end - block_.begin >= std::max(shortest_, kShareOfRun * (end - run_begin_));
}

void BlockKeeper::enter(BlockRole role, const Setting& setting, TimePoint now) {
  if (open_ && block_.role == role && block_.setting == setting) return;
  finish(now);
  open_ = true;
  aligned_ = false;
  last_edge_.reset();
  block_ = {role, setting, now, now, 0};
}

void BlockKeeper::interruption(TimePoint resumed) {
  if (!open_) return;
  if (last_edge_) cut(*last_edge_);
  block_.begin = std::max(resumed, block_.begin);
  block_.iterations = 0;
  last_edge_.reset();
}

void BlockKeeper::spoil(TimePoint now) {
  block_.begin = now;
  block_.iterations = 0;
  last_edge_.reset();
  aligned_ = false;
}

void BlockKeeper::iteration(const Iteration& iteration) {
  if (!open_) return;
  // Iterations whose marks were lost cost energy too: a block with a hole would tell a wrong mean.
  if (aligned_ && last_index_ && iteration.index != *last_index_ + 1) interruption(iteration.begin);
  last_index_ = iteration.index;
  iteration_time_ = iteration.duration();
  if (!aligned_ || iteration.begin < block_.begin) {
    // It began before the block did: the first whole one starts where it ends.
    if (block_.iterations == 0 && iteration.end >= block_.begin) {
      const bool whole = iteration.begin >= block_.begin;
      block_.begin = whole ? iteration.begin : iteration.end;
      aligned_ = true;
      if (!whole) return;
    } else {
      return;
    }
  }
  ++block_.iterations;
  last_edge_ = iteration.end;
  if (block_.iterations >= kFewestIterations && long_enough(iteration.end)) cut(iteration.end);
}

bool BlockKeeper::given_up(TimePoint t, TimePoint now) const {
  return !iteration_time_ || now - t > kPatience * std::max(shortest_, *iteration_time_);
}

void BlockKeeper::tick(TimePoint now) {
  if (!open_ || !given_up(last_edge_.value_or(block_.begin), now)) return;
  iteration_time_.reset();
  if (aligned_) {
    if (last_edge_) cut(*last_edge_);
    block_.begin = now;
    aligned_ = false;
  } else if (long_enough(now)) {
    cut(now);
  }
}

void BlockKeeper::cut(TimePoint end) {
  block_.end = end;
  sink_(block_);
  block_.begin = end;
  block_.iterations = 0;
  last_edge_.reset();
}

void BlockKeeper::finish(TimePoint now) {
  if (!open_) return;
  open_ = false;
  // Only whole iterations count; a remainder without any is told by its time alone.
  const TimePoint end = aligned_ ? last_edge_.value_or(block_.begin) : now;
  if (end > block_.begin) cut(end);
}

}  // namespace rubato::conduct
