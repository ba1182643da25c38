// The governor once it has searched: what it holds, and how it spends the budget.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/percent.h"
#include "base/text.h"
#include "govern/rubato/governor.h"
#include "govern/rubato/pace.h"
#include "govern/rubato/spending_rules.h"
#include "plan/expected_curve.h"

namespace rubato::govern {
namespace {

constexpr double kLeastShareGain = 0.001;
constexpr double kLeastPart = 0.05;

// Of what the bound allows to lose over what is ahead.
constexpr double kMostReserved = 0.3;
// A setting that takes more than this of the bound is over it if the job's cost changed under the tries: the
// found setting is looked at again, whether or not the bound is what limits the saving.
constexpr double kNearBound = 0.5;

// Of the bound: wide enough that the settings on either side are not the same.
constexpr double kPriceStep = 0.01;

}  // namespace

double Governor::lost_error() const {
  // Each program's found setting was measured by itself; variants share what was taken over.
  std::map<std::size_t, double> errors;
  for (const auto& p : programs_) errors[p->family] += p->slowdown(add_up()).lost_error;
  double variance = 0;
  for (const auto& [family, error] : errors) variance += error * error;
  return std::sqrt(variance);
}

// A block frees some of the margin, over as long a run again; what it costs is what is not saved meanwhile,
// less what the seconds not lost in it save elsewhere.
bool Governor::worth_controlling() const {
  const double bound = options_.goal.max_slowdown;
  const auto objective = [&](double allowed) {
    const plan::Account all{.work = 0, .lost = 0, .ahead = 1, .bound = allowed};
    const plan::Spending best =
        plan::spend(program().belief(), options_.goal, program().board(), all, rules());
    return best.objective - (options_.shares && best.share ? best.share->gain : 0);
  };
  const double reached = objective(bound);
  const double price = (reached - objective(bound + kPriceStep)) / kPriceStep;
  const double seen = program().history().work_at(found_);
  const auto block = static_cast<double>(pace::kControl.iterations);
  const double freed = rules().caution * lost_error() * (1 - std::sqrt(seen / (seen + block)));
  return price * freed > control_length().value() * std::max(0.0, 1 - reached - price * bound);
}

Seconds Governor::control_length() const {
  return pace::length_of(pace::kControl, program().unit());
}

plan::Account Governor::account() const {
  plan::Account out = unnoticed_;
  out.bound = options_.goal.max_slowdown;
  for (const auto& p : programs_) {
    const Program::Slowdown s = p->slowdown(add_up());
    out.work += s.seconds;
    out.lost += s.lost;
  }
  out.lost += rules().caution * lost_error();
  out.ahead = pace::ahead(out.work);
  out.lost += reserved(out);
  return out;
}

double Governor::reserved(const plan::Account& account) const {
  return std::min(beside_.reserved.value(), account.bound * account.ahead * kMostReserved) +
         beside_.growth * account.ahead;
}

std::optional<Left> Governor::left() const {
  if (stage_ != Stage::visiting || programs_.empty() || !program().searched) return std::nullopt;
  const plan::Account now = account();
  return Left{Seconds(now.bound * now.work - (now.lost - reserved(now))), now.bound};
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
  program().next_check = program().ran() * pace::kCheckEvery;
  program().next_confirm = program().ran() * pace::kConfirmEvery;
  controls_.plan(o.now, control_length(), random_);
  choose(o);
  return hold(o);
}

Decision Governor::held(const Observation& o) {
  if (chosen_ != found_ && o.may_set && controls_.due(o.now, o.run_begin, worth_controlling_))
    return go(o, found_, Purpose::control,
              "a control block at the found setting shows whether the baseline still holds");
  if (chosen_ != found_ && o.may_set && program().ran() >= program().next_confirm) {
    program().next_confirm = program().ran() * pace::kConfirmEvery;
    if (bound_matters() ||
        plan::most_lost(program().belief(), chosen_, rules()) > kNearBound * options_.goal.max_slowdown)
      return confirm(o, "the run has become much longer: the found setting once more, to know it better");
  }
  const bool check = program().ran() >= program().next_check;
  if (!check && last_tally_->work < next_review_ && !(share_ && o.now >= dwell_until_)) return hold(o);
  program().fit();
  worth_controlling_ = worth_controlling();
  if (check) {
    const auto setting = to_check(o);
    const bool looks = setting && can_pay_look(o, *setting, measured_settings(), account(), kOwnPart);
    program().next_check = program().ran() * (setting && !looks ? pace::kReviewEvery : pace::kCheckEvery);
    if (looks)
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
  const plan::Account all = account();
  const auto given = this->given(all);
  const plan::Account now = share_of_account(all, given);
  const plan::Spending best = plan::spend(belief, options_.goal, program().board(), now, rules());
  next_review_ = last_tally_->work * pace::kReviewEvery;
  // What others left is soon spent.
  if (given && *given > options_.goal.max_slowdown)
    next_review_ = std::min(next_review_, last_tally_->work + pace::kShortestAhead / program().unit() / 2);
  if (options_.shares && best.share && best.share->gain > kShareErrors * best.share->gain_error &&
      best.share->gain > kLeastShareGain && best.share->part > kLeastPart &&
      best.share->part < 1 - kLeastPart) {
    const bool same = share_ && share_->faster == best.share->faster && share_->slower == best.share->slower;
    share_ = best.share;
    if (same && o.now < dwell_until_) return;
    if (given) {
      program().owed += best.share->part;
      chosen_ = program().owed >= 1 ? best.share->slower : best.share->faster;
      if (chosen_ == best.share->slower) program().owed -= 1;
      dwell_until_ = o.now + kTurn;
    } else {
      take_turn(o, now);
    }
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

bool Governor::silent(const Observation& o) const {
  if (!last_tally_ || programs_.empty()) return false;
  const TimePoint heard = std::max(last_tally_->at, o.last_iteration.value_or(last_tally_->at));
  return o.now - heard > std::max(pace::kSilent, program().unit() * pace::kSilentUnits);
}

// Where it is the setting that hides the work, coming back to it at once would hide it again.
void Governor::fall_silent(const Observation& o) {
  stage_ = Stage::unseen;
  share_.reset();
  seen_again_ = o.now + pace::kSilent * std::exp2(std::min(++silences_, pace::kMostSilences));
}

Decision Governor::unseen(const Observation& o) {
  if (!silent(o) && o.now >= seen_again_) {
    stage_ = Stage::visiting;
    if (!program().searched) return search(o);
    choose(o);
    return hold(o);
  }
  return {o.in_force.empty() ? Action::wait : Action::use_found,
          {},
          BlockRole::warmup,
          "nothing tells of the job's work any more: the found setting, until something does",
          std::nullopt};
}

// The slower of the two whenever one turn of it can be paid: in the long run that is its part.
void Governor::take_turn(const Observation& o, const plan::Account& account) {
  chosen_ = pays_turn(program().belief(), account, share_->slower, rules()) ? share_->slower : share_->faster;
  dwell_until_ = o.now + kTurn;
}

}  // namespace rubato::govern
