// Which clock makes a rank's own part of the iteration how much longer, and what it costs to ask.
#include <algorithm>
#include <cmath>
#include <utility>

#include "govern/slack/slack_taker.h"

namespace rubato::govern {
namespace {

// Iterations that a trial lasts until the next setting is in force: drained, measured, agreed on.
constexpr double kTrialWhole = 30;
// Energy per time, both relative, as in slack_taker.cpp; and what a rank saves by its slack, per time.
constexpr double kPriceOfTime = 2;
constexpr double kSavedBySlack = 2;
// Iterations that scatter more hide what is looked for.
constexpr double kMostScatter = 0.05;
constexpr double kLeastMargin = 0.002;
// Lower clocks save another part of the job's energy beside another base.
constexpr double kFurthestBase = 0.04;
constexpr double kLeastClockBound = 0.15;

}  // namespace

// Time is taken for a sum of what goes with the clock and what does not (roofline, docs/prediction.md), the
// same in all ranks; what is made of it is verified.
void SlackTaker::learn_clock() {
  if (!at_found_) return;
  const double uniform = reference_->log_time - std::log(reference_ratio_.time);
  const double share = base_.sm_clock->max.value() / clocks_.back();
  if (share >= 1 || uniform <= *at_found_) return;
  bound_ = {.share = std::clamp((1 - std::exp(*at_found_ - uniform)) / (1 - share), kLeastClockBound, 1.0),
            .at = base_.sm_clock->max};
}

double SlackTaker::ClockBound::near(Megahertz base) const {
  if (!at) return share;
  const double longer = share * (*at / base);
  return longer / (1 - share + longer);
}

Megahertz SlackTaker::clock_for(double growth, Megahertz base, const ClockBound& bound) const {
  const double wanted = base.value() / (1 + growth / bound.near(base));
  const auto above = std::lower_bound(clocks_.begin(), clocks_.end(), wanted);
  return above == clocks_.end() ? base : std::min(Megahertz(*above), base);
}

LowerClocks SlackTaker::lower(const Pattern& pattern, Megahertz base) const {
  LowerClocks out;
  for (std::size_t i = 0; i < pattern.growth.size(); ++i) {
    if (!(pattern.growth[i] > 0)) continue;
    const Megahertz clock = clock_for(pattern.growth[i], base, pattern.bound);
    if (clock < base) out[i] = clock;
  }
  return out;
}

const SlackTaker::Ratio* SlackTaker::ratio_near(const Setting& base) const {
  const Ratio* out = nullptr;
  double nearest = kFurthestBase;
  for (const Verified& one : verified_at_) {
    const double away = base.sm_clock ? std::abs(base.sm_clock->max / one.base - 1) : 1;
    if (away > nearest) continue;
    nearest = away;
    out = &one.ratio;
  }
  return out;
}

LowerClocks SlackTaker::given_for(const Setting& base) const {
  if (!given_ || ratio_near(base) == nullptr) return {};
  return lower(*given_, base.sm_clock->max);
}

bool SlackTaker::due(const Observation& job) const {
  if (!latest_ || !latest_->time_scatter || std::sqrt(*latest_->time_scatter) > kMostScatter) return false;
  const auto probe = ranks_.next();
  return probe && job.now >= next_round_ && repays(job, *probe);
}

// Ranks scatter about as much as the job does, and whoever scatters past the slowest is waited for.
double SlackTaker::margin() const {
  return std::max(kLeastMargin, std::sqrt(latest_->time_scatter.value_or(0)));
}

Seconds SlackTaker::cost_of(const RankSlack::Probe& probe) const {
  return Seconds(std::exp(latest_->log_time)) * (probe.at_most * kTrialWhole);
}

Seconds SlackTaker::beyond(const Left& left) const {
  if (!at_found_) return Seconds(0);
  return Seconds(std::max(0.0, std::exp(latest_->log_time) - std::exp(*at_found_) * (1 + left.bound)));
}

std::optional<Left> SlackTaker::left_now(const Observation& job, const std::optional<Left>& left) const {
  if (!left || !aside_) return left;
  const double work = job.tally->work - raw_->work;
  const Seconds took = job.tally->at - raw_->at - (job.tally->outside - raw_->outside);
  const Seconds longer = took - Seconds(work * uniform_seconds_);
  return Left{left->time - longer - beyond(*left) * work, left->bound};
}

// In as much work as the job has done so far.
bool SlackTaker::repays(const Observation& job, const RankSlack::Probe& probe) const {
  return probe.promise * kSavedBySlack * job.tally->work >= probe.at_most * kTrialWhole * kPriceOfTime;
}

}  // namespace rubato::govern
