#include "govern/slack/settled_stretch.h"

#include <cmath>

namespace rubato::govern {
namespace {

// What was launched before a change runs after it, and sensors lag.
constexpr StretchNeeds kDrain{Seconds(0.5), 5, 2};
constexpr double kUnknownScatter = 0.05;

}  // namespace

double error_of(const StretchMean& mean) {
  return mean.time_scatter ? std::sqrt(*mean.time_scatter / mean.work) : kUnknownScatter;
}

double error_of(const StretchMean& a, const StretchMean& b) {
  return std::hypot(error_of(a), error_of(b));
}

// What is told of work lags behind what is in force: measured is from a tally on that holds the whole drain.
void SettledStretch::measure(const Observation& job, const Setting& base, const LowerClocks& in_force) {
  if (base != base_ || in_force != lower_ || !job.under_load) {
    base_ = base;
    lower_ = in_force;
    draining_ = true;
    drain_.begin(job);
    drained_.reset();
    meter_.reset();
  }
  if (!job.tally) return;
  if (draining_) {
    if (!drain_.enough(job, kDrain, kDrain.time)) return;
    if (!drained_) drained_ = job.last_iteration.value_or(job.tally->at);
    if (job.tally->at < *drained_) return;
    draining_ = false;
  }
  if (meter_) return meter_->add(*job.tally);
  meter_.emplace();
  meter_->begin(*job.tally);
}

bool SettledStretch::whole(double iterations, double error, double most) const {
  if (!meter_ || meter_->work() < iterations) return false;
  const auto mean = meter_->mean();
  if (!mean || !mean->time_scatter) return false;
  return error_of(*mean) <= error || meter_->work() >= most;
}

}  // namespace rubato::govern
