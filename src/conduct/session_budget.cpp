// The part of a session that divides a power budget among its GPUs: what the strategy is told of each board,
// and the order in which limits are written.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "conduct/same_limit.h"
#include "conduct/session.h"
#include "core/power_budget.h"

namespace rubato::conduct {
namespace {

// In the record and for whoever watches: the shares, with what came of them.
constexpr const char* kShares = "shares";

}  // namespace

bool Session::counts(const GpuUnit& unit) const {
  return unit.leased || unit.job_seen || unit.ownership.verdict == Ownership::Verdict::job;
}

bool Session::steered(const GpuUnit& unit) const {
  if (unit.lost || unit.gave_way || unit.changed_by_someone_else || !unit.found) return false;
  const bool ours = unit.ownership.verdict == Ownership::Verdict::job || parts_.allow_shared;
  // A lease is taken once: who comes later is not in it.
  const bool leasable = parts_.lease && parts_.lease->state() == LeaseHolder::State::none;
  return unit.leased || (ours && leasable);
}

Watts Session::limit_in_force(const GpuUnit& unit) {
  if (unit.expected_limit) return *unit.expected_limit;
  if (unit.state && unit.state->requested_limit) return *unit.state->requested_limit;
  return unit.found ? unit.found->requested : Watts{};
}

Watts Session::other_limits(const GpuUnit& unit) const {
  Watts sum;
  for (const auto& other : units_)
    if (&other != &unit && counts(other)) sum += limit_in_force(other);
  return sum;
}

std::vector<govern::Board> Session::boards() const {
  // Whose work a board does is known where its own processes tell, or where one process computes on all.
  const BoardTally* first = nullptr;
  bool one_process = true;
  bool all_own = true;
  for (const auto& unit : units_) {
    if (!unit.tally || !counts(unit)) continue;
    if (first == nullptr) first = unit.tally.get();
    one_process = one_process && unit.tally->processes() == first->processes();
    all_own = all_own && unit.tally->own();
  }
  std::vector<govern::Board> out;
  for (const auto& unit : units_) {
    govern::Board& board = out.emplace_back();
    board.name = unit.name();
    if (unit.found) board.least = unit.found->min;
    if (unit.found) board.found = unit.found->requested;
    // One that gives way goes back to what was found, and has to be counted so before it does.
    board.limit = unit.gave_way ? std::max(board.found, limit_in_force(unit)) : limit_in_force(unit);
    board.counts = counts(unit);
    board.steered = steered(unit);
    board.give_back = !board.steered && unit.leased && !unit.lost && !unit.in_force.empty();
    board.state = unit.state;
    if (unit.tally && (all_own || one_process)) board.tally = unit.tally->tally();
  }
  return out;
}

void Session::follow_boards(TimePoint from, TimePoint until) {
  for (auto& unit : units_) {
    if (!unit.tally || !tallied(unit)) continue;
    const auto all = unit.meter->window(from, until);
    if (!all) continue;
    Joules rest = all->energy;
    if (const auto end = unit.tally->wanted(until); end && *end > from && *end < until)
      if (const auto part = unit.meter->window(from, *end)) {
        unit.tally->energy(*end, part->energy);
        rest -= part->energy;
      }
    unit.tally->energy(until, rest);
  }
}

void Session::set_limits(const govern::Decision& decision, TimePoint now) {
  const bool first = in_force_.empty();
  if (!hold_lease(now)) return;
  const auto wanted = [&](std::size_t i) -> std::optional<Watts> {
    return i < decision.limits.size() ? decision.limits[i] : std::nullopt;
  };
  for (std::size_t i = 0; i < units_.size() && !stand_back_; ++i)
    if (const auto limit = wanted(i);
        limit && units_[i].leased && !units_[i].lost && *limit < limit_in_force(units_[i]) - kSameLimit)
      set_limit(units_[i], *limit, first, now);
  // Others must not compute at our limit, whatever the budget says; the lowering was made for them.
  for (std::size_t i = 0; i < units_.size() && !stand_back_; ++i)
    if (!wanted(i) && units_[i].leased && !units_[i].lost && !units_[i].in_force.empty())
      put_back(units_[i], now);
  for (std::size_t i = 0; i < units_.size() && !stand_back_; ++i) {
    GpuUnit& unit = units_[i];
    const auto limit = wanted(i);
    const Watts present = limit_in_force(unit);
    if (!limit || !unit.leased || unit.lost || *limit <= present + kSameLimit) continue;
    // What was granted in the place of a lower limit counts, not what was asked for.
    const Watts others = other_limits(unit);
    const Watts room(std::floor((*parts_.power_budget - others).value()));
    const Watts raised = std::min(*limit, room);
    if (raised > present && keeps_power_budget(*parts_.power_budget, raised, present, others))
      set_limit(unit, raised, first, now);
  }
  in_force_ = {};
  for (const auto& unit : units_)
    if (in_force_.empty()) in_force_ = unit.in_force;
}

void Session::set_limit(GpuUnit& unit, Watts limit, bool first, TimePoint now) {
  const Status applied = apply(unit, Setting{.power_limit = limit}, now);
  if (applied) return;
  if (applied.error().code == ErrorCode::device_lost) {
    unit.lost = true;
    return warn(applied.error());
  }
  stand_back(applied.error(), now);
  // Once the budget is in force, GPUs that went back would be above it.
  if (first) put_all_back(now);
}

void Session::note_shares(const govern::Decision& decision, TimePoint now) {
  const bool held = decision.action == govern::Action::wait && decision.role == BlockRole::hold;
  const bool worth_it =
      decision.action == govern::Action::use_limits || held || decision.role == BlockRole::baseline;
  if (worth_it && shares_told_ != decision.why) note(kShares, shares_told_ = decision.why, now, {});
  if (!stand_back_) doing_ = {now, std::string(name_of(decision.role)), in_force_, decision.why};
}

}  // namespace rubato::conduct
