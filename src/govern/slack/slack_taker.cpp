#include "govern/slack/slack_taker.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/percent.h"
#include "base/text.h"

namespace rubato::govern {
namespace {

// Iterations of a stretch, the relative standard error that ends it, and iterations that end it anyway.
constexpr double kChunk = 48;
constexpr double kChunkError = 0.0012;
constexpr double kLongestChunk = 128;
constexpr double kTrial = 12;
constexpr double kTrialError = 0.002;
constexpr double kLongestTrial = 48;

// A round of trials keeps the strategy waiting.
constexpr int kTrialsOfRound = 4;
constexpr double kRound = 110;  // iterations of one trial and what follows it
constexpr int kMostHalvings = 2;
// Of what the next trial may cost: the more is reserved, the sooner it is there.
constexpr double kReserved = 3;
// Energy per time, both relative, that is asked of lower clocks: slowing the whole job by its one clock saves
// about as much.
constexpr double kPriceOfTime = 2;

// By so much lower clocks may lengthen the job's iteration, for ranks that end together scatter and the last
// one counts.
constexpr double kMostGrowth = 0.005;
constexpr double kUsualGrowth = 0.002;
constexpr double kErrors = 3;
constexpr double kSurprise = 0.03;

constexpr double kCompareEvery = 1.5;  // times the run so far
constexpr Seconds kShortestWait{30};
constexpr double kWait = 0.05;  // of the run, doubled with every failure
constexpr unsigned kMostDoublings = 6;

}  // namespace

void SlackTaker::begin_anew(const std::vector<double>& boards, TimePoint now) {
  boards_ = boards;
  Observation nothing;
  nothing.now = now;
  nothing.tally = raw_;
  forget(nothing, "the job's ranks are others than before");
  failures_ = 0;
  next_round_ = now;
}

void SlackTaker::interrupt(const Observation& job) {
  take_up(job);
  probe_.reset();
  stage_ = Stage::holding;
}

void SlackTaker::forget(const Observation& job, const std::string& why) {
  interrupt(job);
  if (given_) {
    ++counts_.withdrawn;
    notes_.push_back(cat("one clock for all ranks again: ", why));
  }
  given_.reset();
  verified_at_.clear();
  wanted_.clear();
  ranks_ = RankSlack(boards_);
  reference_.reset();
  verified_.reset();
  beside_.reserved = Seconds(0);
  beside_.growth = 0;
  wait(job);
}

const LowerClocks& SlackTaker::next(const Observation& job, const Standing& standing) {
  if (boards_.size() < 2) return wanted_;
  if (job.shift && stage_ == Stage::holding) forget(job, "the job has changed");
  if (standing.base != base_) {
    interrupt(job);
    base_ = standing.base;
    reference_.reset();
    verified_.reset();
  }
  if (standing.settled) stretch_.measure(job, standing.base, standing.in_force);
  if (!base_.sm_clock) {
    if (const auto mean = stretch_.mean(); standing.settled && base_.empty() && mean && mean->work >= kTrial)
      at_found_ = mean->log_time;
    wanted_.clear();
    return wanted_;
  }
  if (stage_ != Stage::holding && !standing.holds) interrupt(job);
  if (stage_ == Stage::holding) wanted_ = given_for(base_);
  // Whatever the base is: a reserve that came and went with it would move it.
  beside_.reserved = job.tally && due(job) ? cost_of(*ranks_.next()) * kReserved : Seconds(0);
  if (!standing.settled || !standing.holds || !job.tally || standing.in_force != wanted_) return wanted_;
  // The strategy does not see what the base costs meanwhile.
  const bool trial = stage_ == Stage::probing || stage_ == Stage::verifying || stage_ == Stage::comparing;
  if (const auto left = left_now(job, standing.left); trial && left && left->time < Seconds(0)) {
    give_up(job);
    return wanted_;
  }
  switch (stage_) {
    case Stage::holding:
      hold(job, standing);
      break;
    case Stage::probing:
      probe(job, standing);
      break;
    case Stage::verifying:
      verify(job);
      break;
    case Stage::comparing:
      compare(job);
      break;
    case Stage::returning:
      if (stretch_.open()) interrupt(job);
      break;
  }
  return wanted_;
}

void SlackTaker::hold(const Observation& job, const Standing& standing) {
  if (!stretch_.whole(kChunk, kChunkError, kLongestChunk)) return;
  reference_ = latest_ = stretch_.mean();
  const Ratio* ratio = wanted_.empty() ? nullptr : ratio_near(base_);
  reference_ratio_ = ratio != nullptr ? *ratio : Ratio{};
  stretch_.restart(job);
  learn_clock();
  if (!wanted_.empty()) {
    if (!verified_) verified_ = reference_;
    const double grew = reference_->log_time - verified_->log_time;
    const bool too_long = grew > kMostGrowth + kErrors * error_of(*reference_, *verified_);
    if (too_long || job.now - job.run_begin >= next_compare_) {
      set_aside(job);
      stage_ = Stage::comparing;
      wanted_.clear();
      return;
    }
  }
  halvings_ = 0;
  trials_left_ = kTrialsOfRound - 1;
  if (due(job) && try_next(job, standing.left)) return;
  // What is known of slack holds at another base too, but has not been seen there.
  if (wanted_.empty() && job.now >= next_round_) {
    set_aside(job);
    conclude(job);
    if (wanted_.empty()) interrupt(job);
  }
}

bool SlackTaker::try_next(const Observation& job, const std::optional<Left>& left) {
  for (;;) {
    const auto probe = ranks_.next();
    if (!probe || !repays(job, *probe) || !left || cost_of(*probe) + beyond(*left) * kRound > left->time)
      return false;
    const Megahertz base = base_.sm_clock->max;
    const Megahertz clock = clock_for(probe->growth, base, bound_);
    const double growth = bound_.near(base) * (base / clock - 1);
    if (growth < probe->growth / 2) {
      ranks_.reached_lowest(*probe);
      continue;
    }
    set_aside(job);
    stage_ = Stage::probing;
    wanted_ = given_for(base_);
    for (const std::size_t rank : probe->ranks) wanted_[rank] = clock;
    probe_ = probe;
    probed_growth_ = growth;
    ++counts_.trials;
    return true;
  }
}

void SlackTaker::probe(const Observation& job, const Standing& standing) {
  if (!stretch_.whole(kTrial, kTrialError, kLongestTrial)) return;
  const StretchMean mean = *stretch_.mean();
  const double ratio = std::exp(mean.log_time - reference_->log_time);
  const double error = error_of(mean, *reference_);
  if (ratio - 1 > probe_->at_most + kSurprise + kErrors * error)
    return forget(job, "the job slowed down by itself");
  ranks_.tell(*probe_, probed_growth_, ratio, error);
  probed_ = true;
  if (trials_left_-- > 0 && try_next(job, left_now(job, standing.left))) return;
  conclude(job);
}

void SlackTaker::conclude(const Observation& job) {
  probe_.reset();
  next_round_ = job.now + std::max(job.now - round_began_, Seconds(1));
  try_part(1);
}

void SlackTaker::try_part(double part) {
  if (given_ && !probed_ && part >= 1) {
    trying_ = *given_;
  } else {
    trying_ = {ranks_.growth(margin()), bound_};
    for (std::size_t i = 0; i < trying_.growth.size(); ++i) {
      const double before = given_ ? given_->growth[i] : 0;
      trying_.growth[i] = before + part * (trying_.growth[i] - before);
    }
  }
  wanted_ = lower(trying_, base_.sm_clock->max);
  stage_ = wanted_ == given_for(base_) ? Stage::returning : Stage::verifying;
}

// Lower clocks make no job faster, and where others do not wait for them hardly slower: what noise makes of
// that is taken off. The strategy's curve would have it for a hole, and the sums do not depend on it.
SlackTaker::Ratio SlackTaker::ratio_of(const StretchMean& with, const StretchMean& without) {
  const double error = error_of(with, without);
  const double weight = kUsualGrowth * kUsualGrowth / (kUsualGrowth * kUsualGrowth + error * error);
  const double longer = std::max(0.0, weight * (with.log_time - without.log_time));
  return {.time = std::exp(longer), .energy = std::exp(longer + with.log_power - without.log_power)};
}

void SlackTaker::verify(const Observation& job) {
  if (!stretch_.whole(kChunk, kChunkError, kLongestChunk)) return;
  const StretchMean mean = *stretch_.mean();
  const double grew = mean.log_time - reference_->log_time + std::log(reference_ratio_.time);
  Ratio now = ratio_of(mean, *reference_);
  now.time *= reference_ratio_.time;
  now.energy *= reference_ratio_.energy;
  if (grew <= kMostGrowth + error_of(mean, *reference_) && saves(now)) {
    if (!given_ || given_->growth != trying_.growth) verified_at_.clear();
    keep(now);
    given_ = trying_;
    ranks_.settle(given_->growth, margin());
    probed_ = false;
    reference_ = latest_ = verified_ = mean;
    beside_.growth = now.time - 1;
    next_compare_ = (job.now - job.run_begin) * kCompareEvery;
    failures_ = 0;
    ++counts_.given;
    notes_.push_back(cat(wanted_.size(), " of ", boards_.size(),
                         " ranks have a lower clock than the job's: ", short_percent(1 - now.energy),
                         " less energy, ", short_percent(now.time - 1), " more time than with one for all"));
    return interrupt(job);
  }
  if (++halvings_ <= kMostHalvings) return try_part(std::pow(0.5, halvings_));
  if (!given_) return forget(job, "the job's iteration grew, or nothing was saved");
  ranks_.settle(given_->growth, margin());
  give_up(job);
}

// Back to what was given, and no trial for a while.
void SlackTaker::give_up(const Observation& job) {
  probe_.reset();
  wait(job);
  wanted_ = given_for(base_);
  stage_ = Stage::returning;
}

void SlackTaker::wait(const Observation& job) {
  const Seconds wait = std::max(kShortestWait, (job.now - job.run_begin) * kWait);
  next_round_ = job.now + wait * static_cast<double>(1U << std::min(failures_, kMostDoublings));
  ++failures_;
}

void SlackTaker::keep(const Ratio& ratio) {
  const Megahertz base = base_.sm_clock->max;
  std::erase_if(verified_at_, [&](const Verified& one) { return one.base == base; });
  verified_at_.push_back({base, ratio});
}

bool SlackTaker::saves(const Ratio& ratio) {
  return 1 - ratio.energy > kPriceOfTime * (ratio.time - 1);
}

void SlackTaker::compare(const Observation& job) {
  if (!stretch_.whole(kChunk, kChunkError, kLongestChunk)) return;
  const StretchMean mean = *stretch_.mean();
  const Ratio now = ratio_of(*reference_, mean);
  uniform_seconds_ = std::exp(mean.log_time);
  const double grew = reference_->log_time - mean.log_time;
  if (grew > kMostGrowth + error_of(mean, *reference_) || !saves(now))
    return forget(job, "the job's iteration has grown with the lower clocks");
  keep(now);
  beside_.growth = now.time - 1;
  verified_ = reference_;
  next_compare_ = (job.now - job.run_begin) * kCompareEvery;
  wanted_ = given_for(base_);
  stage_ = Stage::returning;
}

std::optional<std::string> SlackTaker::trying() const {
  switch (stage_) {
    case Stage::holding:
      return std::nullopt;
    case Stage::probing:
      return cat("trying a lower clock for ", probe_->ranks.size(), " of ", boards_.size(),
                 " ranks: the job's iteration tells whether they wait for the others");
    case Stage::verifying:
      return cat("lower clocks for ", wanted_.size(), " of ", boards_.size(),
                 " ranks, to see whether the job's iteration stays as long");
    case Stage::comparing:
      return "one clock for all ranks, to see what lower ones cost the job";
    case Stage::returning:
      break;
  }
  return "the trial of lower clocks is over";
}

std::vector<std::string> SlackTaker::take_notes() {
  return std::exchange(notes_, {});
}

}  // namespace rubato::govern
