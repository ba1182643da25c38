// What the strategy is told of a job whose ranks have clocks of their own, and the seconds that it loses by
// it.
#include <cmath>
#include <utility>

#include "govern/slack/slack_taker.h"

namespace rubato::govern {
namespace {

Seconds working(const Tally& from, const Tally& to) {
  return to.at - from.at - (to.outside - from.outside);
}

std::optional<Joules> drawn(const Tally& from, const Tally& to) {
  if (!from.energy || !to.energy) return std::nullopt;
  return *to.energy - *from.energy - (to.energy_outside - from.energy_outside);
}

}  // namespace

Observation SlackTaker::told(const Observation& job, const Setting& base, const LowerClocks& in_force) {
  Observation out = job;
  out.beside = beside_;
  if (!job.tally) return out;
  if (!aside_) {
    const Ratio* ratio = in_force.empty() ? nullptr : ratio_near(base);
    if (raw_ && ratio != nullptr && job.tally->work > raw_->work) {
      const Seconds longer = working(*raw_, *job.tally) * (1 - 1 / ratio->time);
      off_.outside += longer;
      beside_.lost += longer;
      if (const auto joules = drawn(*raw_, *job.tally))
        off_.energy_outside += *joules * (1 - 1 / ratio->energy);
    }
    raw_ = job.tally;
    corrected_ = job.tally;
    corrected_->work -= off_.work;
    corrected_->outside += off_.outside;
    corrected_->energy_outside += off_.energy_outside;
  }
  out.tally = corrected_;
  out.beside = beside_;
  return out;
}

void SlackTaker::set_aside(const Observation& job) {
  if (aside_) return;
  aside_ = true;
  round_began_ = job.now;
  uniform_seconds_ = std::exp(reference_->log_time) / reference_ratio_.time;
}

// As if it had not been: neither its work, nor its time and energy; but what was lost is lost.
void SlackTaker::take_up(const Observation& job) {
  if (!std::exchange(aside_, false) || !job.tally || !raw_) return;
  const double work = job.tally->work - raw_->work;
  const Seconds took = working(*raw_, *job.tally);
  off_.work += work;
  off_.outside += took;
  if (const auto joules = drawn(*raw_, *job.tally)) off_.energy_outside += *joules;
  beside_.lost += took - Seconds(work * uniform_seconds_);
  raw_ = job.tally;
}

}  // namespace rubato::govern
