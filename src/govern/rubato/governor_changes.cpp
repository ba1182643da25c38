// What the governor does when the job is no longer what it was: the same program at another cost, a variant
// of it, one seen before, or a new one.
#include <algorithm>
#include <cmath>

#include "govern/rubato/governor.h"
#include "govern/rubato/pace.h"

namespace rubato::govern {
namespace {

// A stretch tells of a change where it is this far from what it should be, and four standard errors besides;
// the curve is another one, and so the program, where it is much further.
constexpr double kJump = 0.004;
constexpr double kOtherTime = 0.02;
constexpr double kOtherPower = 0.03;
constexpr double kErrors = 4;
constexpr double kSameEra = 2;  // after something surprised: so many, for the cost to be what it was before
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
// At another setting it is told without going back to the found one where it is nearer, and well enough
// known.
constexpr double kRecognised = 0.015;
constexpr double kRecognisedOfBound = 0.3;  // no more than this of it may be taken for nothing
constexpr double kWellKnown = 0.02;
// Beyond so many programs a change of cost begins no variant.
constexpr std::size_t kMostVariants = 12;

}  // namespace

bool Governor::surprising(const StretchMean& mean) const {
  const Program::Departure off = program().departure(target_, mean);
  if (off.size() > kJump + kErrors * off.error) return true;
  // However little is known of a setting:
  const StretchMean& found = program().at_found();
  switch (purpose_) {
    case Purpose::trial:
    case Purpose::check:  // it is no faster than the found one and draws no more
      return found.log_time - mean.log_time > kOtherTime + kErrors * off.noise ||
             mean.log_power - found.log_power > kOtherPower + kErrors * off.noise;
    case Purpose::hold: {
      // Measured once, and little known since the job's cost changed, is no leave to take anything for its.
      if (std::abs(off.time) > kOtherTime + kErrors * off.noise) return true;
      // What is to be held is not what it was taken for.
      const double unknown =
          std::min(kUnchanged + program().belief().log_time_deviation(target_), kOtherTime);
      if (!program().history().measured(target_) && std::abs(off.time) > unknown + kErrors / 2 * off.noise)
        return true;
      // Where setting and program changed together, neither shows beside the stretch before.
      const Program::Departure level = program().departure_from_found(target_, mean);
      return level.size() > kUnchanged + kErrors * level.error;
    }
    default:  // the found one costs what it did
      return target_ == found_ && moved(mean);
  }
}

// The sooner it is seen the less is lost at a setting that was meant for other work.
bool Governor::changed_meanwhile() {
  const StretchMeter& meter = visit_.meter();
  const auto least = static_cast<double>(pace::kGlance.iterations);
  if (meter.work() < glanced_at_) glanced_at_ = 0;
  if (meter.work() < glanced_at_ + least) return false;
  glanced_at_ = meter.work();
  if (meter.since_shift(pace::kShift)) return true;
  // A change right at its beginning parts no stretch: the mean tells, once what came before hardly counts.
  if (meter.work() < 2 * least) return false;
  const auto mean = meter.mean();
  return mean && surprising(*mean);
}

// Whether the job's own cost jumped or another program runs, a stretch at the found setting tells.
Decision Governor::after_surprise(const Observation& o, const StretchMean& mean) {
  share_.reset();
  surprised_ = purpose_;
  surprise_.reset();
  if (target_ == found_) {
    // Where only its power moved, and not far, as a board's does that warms up, times compare as before.
    if (moved_in_time(mean) || verdict(mean) == Verdict::other) {
      program().era = ++era_;
      program().part_from_found();
      changed_unseen_ = true;
    }
    return verified(o, mean);
  }
  surprise_ = mean;
  surprise_at_ = target_;
  if (const auto known = recognised(mean); known && !recognised_before_) {
    recognised_before_ = true;
    book_surprise(programs_[*known]->at_found().log_time);
    take_up(*known);
    // What surprised may have begun before the change: only what is held next counts.
    program().fit();
    choose(o);
    return hold(o);
  }
  return go(o, found_, Purpose::verify,
            "the job takes another time or power than it did: the found setting once more, to see which");
}

double Governor::unchanged(const StretchMean& now) const {
  const double work = std::min(now.work, program().at_found().work);
  return kUnchanged + kErrors * program().history().time_error(work);
}

bool Governor::moved_in_time(const StretchMean& now) const {
  return std::abs(now.log_time - program().at_found().log_time) > unchanged(now);
}

bool Governor::moved(const StretchMean& now) const {
  const StretchMean& then = program().at_found();
  return std::hypot(now.log_time - then.log_time, now.log_power - then.log_power) > unchanged(now);
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
  const bool alike = std::abs(time_off) <= kOtherTime + kErrors * error &&
                     std::abs(power_off) <= kOtherPower + kErrors * error;
  if (moved(now)) return alike ? Verdict::same : Verdict::other;
  // Nothing changed at the found setting. One that was held had a stray stretch, unless it does it again; one
  // that was not known well is as it was seen.
  if (stray_at_most()) return Verdict::stray;
  if (surprised_ == Purpose::hold && known.history().measured(surprise_at_)) return Verdict::contrary;
  return alike ? Verdict::same : Verdict::contrary;
}

bool Governor::stray_at_most() const {
  return surprised_ == Purpose::hold && strays_ == 0 && surprise_ &&
         program().history().measured(surprise_at_);
}

std::optional<std::size_t> Governor::recognised(const StretchMean& mean) const {
  if (purpose_ != Purpose::hold) return std::nullopt;
  const double near = std::min(kRecognised, kRecognisedOfBound * options_.goal.max_slowdown);
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    const Program& p = *programs_[i];
    const double known =
        std::max(p.belief().log_time_deviation(target_), p.belief().log_energy_deviation(target_));
    const double time_off = mean.log_time - p.at_found().log_time - p.belief().log_time(target_);
    const double power_off = mean.log_power - p.at_found().log_power - p.belief().log_power(target_);
    if (i == current_ || !p.searched || known > kWellKnown || std::abs(time_off) > near + known ||
        std::abs(power_off) > near + known)
      continue;
    if (out) return std::nullopt;
    out = i;
  }
  return out;
}

std::optional<std::size_t> Governor::known_at_found(const StretchMean& now) const {
  std::optional<std::size_t> nearest;
  double least = kSameProgram;
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    const StretchMean& then = programs_[i]->at_found();
    const double apart =
        std::max(std::abs(now.log_time - then.log_time), std::abs(now.log_power - then.log_power));
    if (apart > least) continue;
    least = apart;
    nearest = i;
  }
  return nearest;
}

std::optional<std::size_t> Governor::over_already(const StretchMean& baseline) const {
  if (!new_program_ || (std::abs(baseline.log_time - new_program_->log_time) <= kSameProgram &&
                        std::abs(baseline.log_power - new_program_->log_power) <= kSameProgram))
    return std::nullopt;
  return known_at_found(baseline);
}

Decision Governor::back_at(const Observation& o, std::size_t to, const StretchMean& now) {
  if (surprise_) book_surprise(now.log_time);
  take_up(to);
  Program& p = program();
  surprised_ = Purpose::hold;
  date(found_, now);
  p.add(found_, now);
  if (p.searched) return go_on(o);
  p.fit();
  return search(o);
}

void Governor::book_surprise(double log_time_at_found) {
  const double took = surprise_->work * std::exp(surprise_->log_time);
  const double at_found = surprise_->work * std::exp(log_time_at_found);
  program().ran_not(surprise_at_, Seconds(took));
  unnoticed_.work += at_found;
  unnoticed_.lost += took - at_found;
  surprise_.reset();
}

void Governor::date(std::size_t setting, const StretchMean& mean) {
  const Program::Departure off = program().departure(setting, mean);
  const double same = kJump + kSameEra * off.noise;
  if (std::abs(off.time) > same || std::abs(off.power) > same) program().era = ++era_;
}

void Governor::vary(const StretchMean& now) {
  if (const auto known = known_at_found(now)) {
    if (*known != current_ && programs_[*known]->searched) take_up(*known);
  } else if (program().searched && programs_.size() < kMostVariants) {
    if (changed_unseen_) program().forget_since_found();
    programs_.push_back(std::make_unique<Program>(program().variant(++era_)));
    programs_.back()->chosen = chosen_;
    take_up(programs_.size() - 1);
  }
}

Decision Governor::go_on(const Observation& o) {
  program().fit();
  if (surprised_ == Purpose::trial || (!program().searched && program().tries == 0)) {
    ++program().tries;
    return search(o);
  }
  if (!program().searched) return begin_to_hold(o);
  choose(o);
  return hold(o);
}

Decision Governor::verified(const Observation& o, const StretchMean& mean) {
  recognised_before_ = false;
  const Verdict verdict = this->verdict(mean);
  if (verdict != Verdict::other) {
    // A stretch held before may straddle the change, and a look may lie on either side of it: neither says
    // what its setting costs now. What is held next does.
    const bool straddles = stray_at_most();
    const bool anew = moved(mean);
    if (anew && program().forget_looks() && !program().searched && program().restarts++ < kMostRestarts)
      program().tries = 0;
    if (anew) vary(mean);
    changed_unseen_ = false;
    if (verdict == Verdict::contrary) {
      program().settle();
      program().forget(surprise_at_);
    }
    date(found_, mean);
    if (surprise_ && !anew && !straddles) program().add(surprise_at_, *surprise_);
    strays_ = surprise_ && straddles ? strays_ + 1 : 0;
    program().add(found_, mean);
    surprise_.reset();
    if (verdict == Verdict::contrary && program().inherited()) {
      program().forget_inherited();
      program().searched = false;
      program().tries = 0;
    }
    return go_on(o);
  }
  strays_ = 0;
  surprised_ = Purpose::hold;
  leave();
  if (const auto known = known_at_found(mean); known && *known != current_) return back_at(o, *known, mean);
  if (programs_.size() >= kMostPrograms)
    return end("the job never does the same for long enough to learn what saves: the found setting is back");
  new_program_ = mean;
  return go(o, found_, Purpose::baseline, "another program runs now: its baseline, and a search of its own");
}

}  // namespace rubato::govern
