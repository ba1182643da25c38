// The governor on a run of several programs: which of them still count, and what the present one may spend.
#include <algorithm>

#include "govern/rubato/governor.h"
#include "govern/rubato/one_price.h"
#include "govern/rubato/pace.h"

namespace rubato::govern {
namespace {

// A program that has been away for longer than this share of the run is not waited for.
constexpr double kForgotten = 0.5;
// Of the energy: less is not worth what is kept back for it.
constexpr double kWorthKeeping = 0.001;

}  // namespace

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
  const Objective objective = options_.goal.objective;
  if (objective != Objective::energy && objective != Objective::cost) return std::nullopt;
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
    claims.push_back({&p.belief(), rules_of(p), p.board(), p.slowdown().seconds, p.away});
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
