// The governor once it has searched: what it holds, how it spends the budget, and what it does when the job
// is no longer what it was.
#include <algorithm>
#include <cmath>

#include "base/percent.h"
#include "base/text.h"
#include "govern/rubato/governor.h"
#include "govern/rubato/pace.h"
#include "plan/expected_curve.h"

namespace rubato::govern {
namespace {

// A run may end at any moment and is to have kept its bound then. What is spent is therefore bounded for all
// moments together: the boundary of a normal mixture (Robbins 1970; Howard et al. 2021, section 3), with this
// chance that a run is ever over its bound.
constexpr double kChance = 0.01;
// Of what is not known of one setting alone this much counts as lost: a chunk of holding it tells.
constexpr double kOwnPart = 0.25;
constexpr double kOptimism = 0.5;

// Time is shared between two settings only for a gain that can be told from none, and in turns of a minute or
// so.
constexpr double kShareErrors = 2;
constexpr double kLeastShareGain = 0.001;
constexpr double kLeastPart = 0.05;
constexpr Seconds kTurn{60};

constexpr double kCheckOptimism = 1.5;
constexpr double kCheckGain = 0.003;
constexpr double kKnownEnergy = 0.002;

// A stretch tells of a change where it is this far from what it should be, and four standard errors besides;
// the curve is another one, and so the program, where it is much further.
constexpr double kJump = 0.004;
constexpr double kOtherTime = 0.02;
constexpr double kOtherPower = 0.03;
constexpr double kErrors = 4;
// At the found setting: one program's cost does not jump further than this (other data, other lengths);
// another one's is elsewhere.
constexpr double kFurthestTime = 0.12;
constexpr double kFurthestPower = 0.08;
constexpr double kUnchanged = 0.01;
// A search begins anew where the job changed under its tries, so often at most.
constexpr std::size_t kMostRestarts = 2;
// More than this are no programs but a job that never does the same for long.
constexpr std::size_t kMostPrograms = 24;
// A program seen before has the same time and power at the found setting within this.
constexpr double kSameProgram = 0.025;

}  // namespace

double Governor::caution() const {
  const double seen = program().history().work_at(found_) / std::max(program().baseline().work, 1.0);
  return std::sqrt(2 * std::log(1 / kChance) + std::log1p(seen));
}

plan::SpendingRules Governor::rules() const {
  const History& history = program().history();
  return {.caution = caution(),
          .common = history.time_error(history.work_at(found_)),
          .own_part = kOwnPart,
          .optimism = kOptimism};
}

plan::Account Governor::account() const {
  plan::Account out{.bound = options_.goal.max_slowdown};
  double error = 0;
  for (const auto& p : programs_) {
    const Program::Slowdown s = p->slowdown();
    out.work += s.seconds;
    out.lost += s.lost;
    error += s.lost_error;
  }
  out.lost += caution() * error;
  out.ahead = std::max(out.work * pace::kAheadShare, pace::kShortestAhead.value());
  return out;
}

bool Governor::bound_matters() const {
  const plan::CurveBelief& belief = program().belief();
  plan::Account unbound = account();
  unbound.bound = 10;
  const auto best = plan::spend(belief, options_.goal, program().board(), unbound, {.caution = 0}).setting;
  return plan::most_lost(belief, best, rules()) > options_.goal.max_slowdown;
}

std::optional<Expectation> Governor::expected() const {
  // While a baseline is taken, what is known is of another program.
  if (programs_.empty() || stage_ == Stage::ended || purpose_ == Purpose::baseline) return std::nullopt;
  std::vector<bool> measured(settings_.size());
  for (std::size_t i = 0; i < settings_.size(); ++i) measured[i] = program().history().measured(i);
  return plan::expected_curve(program().belief(), options_.goal.max_slowdown, target_, measured);
}

Decision Governor::begin_to_hold(const Observation& o) {
  program().searched = true;
  next_check_ = last_tally_->work * pace::kCheckEvery;
  controls_.plan(o.now, o.run_begin,
                 program().unit() * static_cast<double>(pace::kControl.iterations + 3) + pace::kDrains,
                 random_);
  choose(o);
  return hold(o);
}

Decision Governor::held(const Observation& o) {
  if (chosen_ != found_ && o.may_set && controls_.due(o.now, o.run_begin))
    return go(o, found_, Purpose::control,
              "a control block at the found setting shows whether the baseline still holds");
  const bool check = last_tally_->work >= next_check_;
  if (!check && last_tally_->work < next_review_ && !(share_ && o.now >= dwell_until_)) return hold(o);
  program().fit();
  if (check) {
    next_check_ = last_tally_->work * pace::kCheckEvery;
    if (const auto setting = to_check())
      return go(o, *setting, Purpose::check,
                cat("looking at ", describe_setting(*setting), ", which may be worth more than is known"));
  }
  choose(o);
  return hold(o);
}

Decision Governor::hold(const Observation& o) {
  const plan::CurveBelief& belief = program().belief();
  if (chosen_ == found_)
    return go(o, found_, Purpose::hold, "no setting saves anything worth its risk: holding the found one");
  return go(o, chosen_, Purpose::hold,
            cat("holding ", describe_setting(chosen_),
                share_ ? cat(" in turns with ",
                             describe_setting(chosen_ == share_->slower ? share_->faster : share_->slower))
                       : std::string(),
                ": expected to take ", short_percent(1 - belief.energy(chosen_)), " less energy and ",
                short_percent(belief.time(chosen_) - 1), " more time",
                belief.time(chosen_) - 1 > options_.goal.max_slowdown
                    ? " than the found setting, paid from the time that was not used before"
                    : " than the found setting"));
}

void Governor::choose(const Observation& o) {
  const plan::CurveBelief& belief = program().belief();
  const plan::Account now = account();
  const plan::Spending best = plan::spend(belief, options_.goal, program().board(), now, rules());
  next_review_ = last_tally_->work * pace::kReviewEvery;
  if (options_.shares && best.share && best.share->gain > kShareErrors * best.share->gain_error &&
      best.share->gain > kLeastShareGain && best.share->part > kLeastPart &&
      best.share->part < 1 - kLeastPart) {
    const bool same = share_ && share_->faster == best.share->faster && share_->slower == best.share->slower;
    share_ = best.share;
    if (!same || o.now >= dwell_until_) take_turn(o, now);
    return;
  }
  share_.reset();
  const auto worth = [&](std::size_t i) {
    return plan::objective_ratio(belief, i, options_.goal, program().board()) -
           kOptimism * belief.log_energy_deviation(i);
  };
  const auto expected = [&](std::size_t i) {
    return plan::objective_ratio(belief, i, options_.goal, program().board());
  };
  const bool affordable = plan::most_lost(belief, chosen_, rules()) <= now.allowed();
  // What is merely not known draws no move: checks find out, at a falling rate.
  const bool better = worth(chosen_) - worth(best.setting) > pace::kWorthMoving &&
                      expected(chosen_) - expected(best.setting) > pace::kWorthMoving;
  if (!affordable || better) chosen_ = best.setting;
  if (plan::objective_ratio(belief, chosen_, options_.goal, program().board()) > 1 - pace::kWorthHolding)
    chosen_ = found_;
}

// The slower of the two whenever one turn of it can be paid: in the long run that is its part.
void Governor::take_turn(const Observation& o, const plan::Account& account) {
  const double turn = kTurn.value();
  const double lost = account.lost + turn * plan::most_lost(program().belief(), share_->slower, rules());
  chosen_ = lost <= account.bound * (account.work + turn) ? share_->slower : share_->faster;
  dwell_until_ = o.now + kTurn;
}

std::optional<std::size_t> Governor::to_check() const {
  const plan::CurveBelief& belief = program().belief();
  const plan::Spending best = plan::spend(belief, options_.goal, program().board(), account(),
                                          {.caution = 0, .optimism = kCheckOptimism});
  const auto unknown = [&](std::size_t i) {
    return i != found_ && belief.log_energy_deviation(i) > kKnownEnergy;
  };
  if (options_.shares && best.share && best.share->gain > kCheckGain) {
    if (unknown(best.share->slower)) return best.share->slower;
    if (unknown(best.share->faster)) return best.share->faster;
  }
  if (unknown(best.setting)) return best.setting;
  return std::nullopt;
}

bool Governor::surprising(const StretchMean& mean) const {
  const Program::Departure off = program().departure(target_, mean);
  const double jump = kJump + kErrors * off.error;
  return std::abs(off.time) > jump || std::abs(off.power) > jump;
}

// Whether the job's own cost jumped or another program runs, a stretch at the found setting tells.
Decision Governor::after_surprise(const Observation& o, const StretchMean& mean) {
  ++era_;
  share_.reset();
  surprised_ = purpose_;
  surprise_.reset();
  if (target_ == found_) return verified(o, mean);
  surprise_ = mean;
  surprise_at_ = target_;
  return go(o, found_, Purpose::verify,
            "the job takes another time or power than it did: the found setting once more, to see which");
}

bool Governor::moved(const StretchMean& now) const {
  const StretchMean& then = program().at_found();
  const double noise = kErrors * program().history().time_error(std::min(now.work, then.work));
  return std::abs(now.log_time - then.log_time) > kUnchanged + noise ||
         std::abs(now.log_power - then.log_power) > kUnchanged + noise;
}

Governor::Verdict Governor::verdict(const StretchMean& now) const {
  const Program& known = program();
  const double time = std::abs(now.log_time - known.at_found().log_time);
  const double power = std::abs(now.log_power - known.at_found().log_power);
  if (time > kFurthestTime || power > kFurthestPower) return Verdict::other;
  if (!surprise_) {
    const double noise = kErrors * known.history().time_error(std::min(now.work, known.at_found().work));
    return power <= kOtherPower + noise ? Verdict::same : Verdict::other;
  }
  const plan::CurveBelief& belief = known.belief();
  const double error = 2 * known.history().time_error(std::min(now.work, surprise_->work)) +
                       belief.log_time_deviation(surprise_at_);
  const double time_off = surprise_->log_time - now.log_time - belief.log_time(surprise_at_);
  const double power_off = surprise_->log_power - now.log_power - belief.log_power(surprise_at_);
  if (std::abs(time_off) <= kOtherTime + kErrors * error &&
      std::abs(power_off) <= kOtherPower + kErrors * error)
    return Verdict::same;
  if (moved(now)) return Verdict::other;
  // Nothing changed at the found setting. A setting that was not known well is as it was seen; one that was
  // held had a stray stretch, unless it does it again.
  return surprised_ != Purpose::hold || strays_ > 0 ? Verdict::contrary : Verdict::stray;
}

Decision Governor::go_on(const Observation& o) {
  program().fit();
  if (surprised_ == Purpose::trial || program().tries == 0) {
    ++program().tries;
    return search(o);
  }
  if (!program().searched) return begin_to_hold(o);
  choose(o);
  return hold(o);
}

Decision Governor::verified(const Observation& o, const StretchMean& mean) {
  const Verdict verdict = this->verdict(mean);
  if (verdict != Verdict::other) {
    // A stretch held before may straddle the change, and a look may lie on either side of it: neither says
    // what its setting costs now. What is held next does.
    const bool straddles = surprised_ == Purpose::hold && strays_ == 0;
    const bool anew = moved(mean);
    if (anew && program().forget_looks() && !program().searched && program().restarts++ < kMostRestarts)
      program().tries = 0;
    if (verdict == Verdict::contrary) program().forget(surprise_at_);
    if (surprise_ && !anew && !straddles) program().add(surprise_at_, *surprise_, era_);
    strays_ = surprise_ && straddles ? strays_ + 1 : 0;
    program().add(found_, mean, era_);
    surprise_.reset();
    return go_on(o);
  }
  surprise_.reset();
  strays_ = 0;
  surprised_ = Purpose::hold;
  program().chosen = chosen_;
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    Program& other = *programs_[i];
    if (i == current_ || std::abs(mean.log_time - other.at_found().log_time) > kSameProgram ||
        std::abs(mean.log_power - other.at_found().log_power) > kSameProgram)
      continue;
    current_ = i;
    chosen_ = other.chosen;
    other.add(found_, mean, era_);
    if (other.searched) return go_on(o);
    other.fit();
    return search(o);
  }
  if (programs_.size() >= kMostPrograms)
    return end("the job never does the same for long enough to learn what saves: the found setting is back");
  return go(o, found_, Purpose::baseline, "another program runs now: its baseline, and a search of its own");
}

}  // namespace rubato::govern
