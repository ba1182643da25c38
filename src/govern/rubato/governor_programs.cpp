// The governor's programs: what a new one may be, which of them still count, and what the present one may
// spend.
#include <algorithm>
#include <cmath>

#include "govern/rubato/governor.h"
#include "govern/rubato/one_price.h"
#include "govern/rubato/pace.h"

namespace rubato::govern {
namespace {

constexpr std::size_t kCurves = 128;  // drawn of each
// A program that has been away for longer than this share of the run is not waited for.
constexpr double kForgotten = 0.5;
// Of the energy: less is not worth what is kept back for it.
constexpr double kWorthKeeping = 0.001;

}  // namespace

predict::Known Governor::known_of(const Observation& o, const StretchMean& at_found) const {
  const Seconds unit(std::exp(at_found.log_time));
  const Watts board(std::exp(at_found.log_power) / options_.gpus);
  predict::Known out{.gpu = options_.space.gpu,
                     .at_default = {.at = options_.space.found,
                                    .time = unit,
                                    .energy = board * unit,
                                    .time_error = {},
                                    .energy_error = {}},
                     .highest = options_.space.highest,
                     .features = {},
                     .probes = {}};
  // Nothing says that counters were read anew since a later program began.
  if (programs_.empty() && o.features) out.features = *o.features;
  return out;
}

void Governor::draw_ahead(const Observation& o) {
  const auto half = [](const StretchNeeds& needs) {
    return StretchNeeds{needs.time / 2, needs.sensor_updates / 2, needs.iterations / 2};
  };
  if (options_.model || !enough(o, half(pace::kBaseline))) return;
  if (const auto mean = visit_.meter().mean()) ahead_.draw(known_of(o, *mean), settings_, kCurves, random_);
}

bool Governor::make_program(const Observation& o, const StretchMean& baseline) {
  const predict::Known known = known_of(o, baseline);
  Result<predict::Draws> draws = fail(ErrorCode::unavailable, "no model");
  if (options_.model) {
    if (const auto believed = options_.model->predict(known, settings_))
      draws = predict::draw_from(*believed, kCurves, random_);
  } else if (auto drawn = ahead_.take(known)) {
    draws = std::move(*drawn);
  }
  if (!draws) draws = predict::draw_physical(known, settings_, kCurves, random_);
  if (!draws) return false;
  if (surprise_) book_surprise(baseline.log_time);
  programs_.push_back(std::make_unique<Program>(
      plan::CurveBelief(settings_, found_, std::move(*draws), plan::CurveBelief::Unfitted{}), baseline));
  current_ = programs_.size() - 1;
  program().family = current_;
  chosen_ = found_;
  share_.reset();
  return true;
}

void Governor::leave() {
  if (changed_unseen_) program().forget_since_found();
  changed_unseen_ = false;
  program().chosen = chosen_;
  program().left = last_tally_->at;
  program().forget_looks();
}

void Governor::take_up(std::size_t to) {
  if (to == current_) return;
  leave();
  current_ = to;
  chosen_ = program().chosen;
  if (program().left) program().away = last_tally_->at - *program().left;
}

std::optional<double> Governor::given(const plan::Account& account) const {
  if (!adds_up(options_.goal.objective)) return std::nullopt;
  std::vector<Claim> claims;
  std::size_t which = 0;
  Seconds away;
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    const Program& p = *programs_[i];
    // Only for one that comes back is anything kept.
    if (!p.searched || !(p.away > Seconds(0))) {
      if (i == current_) return std::nullopt;
      continue;
    }
    if (i == current_) {
      which = claims.size();
    } else if ((last_tally_->at - *p.left).value() > kForgotten * account.work) {
      continue;
    }
    away = std::max(away, p.away);
    claims.push_back(
        {&p.belief(), spending_rules(p, add_up()), p.board(), p.slowdown(add_up()).seconds, p.away});
  }
  if (claims.size() < 2) return std::nullopt;
  // What others left is there for their next turns, not for the present program alone.
  plan::Account round = account;
  round.ahead = std::max(account.ahead, away.value());
  plan::Account soon = account;
  soon.ahead = pace::kShortestAhead.value();
  const Given given = at_one_price(claims, which, round.allowed(), options_.goal);
  if (given.gain < kWorthKeeping || given.made_good > Seconds(account.work)) return std::nullopt;
  return std::min(given.lost, soon.allowed());
}

plan::Account Governor::share_of_account(plan::Account all, std::optional<double> given) {
  if (given) all.lost += (all.allowed() - *given) * all.ahead;
  return all;
}

}  // namespace rubato::govern
