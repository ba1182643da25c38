#include "conduct/agreement.h"

#include <utility>

#include "base/text.h"

namespace rubato::conduct {
namespace {

agent::Report standing(const govern::Observation& o, bool by_marks, std::uint64_t epoch) {
  return {.iterations = o.iterations,
          .by_marks = by_marks,
          .epoch = epoch,
          .may_set = o.may_set,
          .why_not = {},
          .under_load = o.under_load,
          .tuning = o.tuning,
          .shift = o.shift.value_or(""),
          .tally = o.tally};
}

}  // namespace

// Who they are, and which clocks they have.
void RankClocks::see(const agent::Leader& leader, const govern::Observation& job) {
  std::vector<agent::Peer> ranks;
  std::vector<double> boards;
  if (leader.everybody_here()) {
    for (const auto& [peer, seat] : leader.seats()) {
      ranks.push_back(peer);
      boards.push_back(static_cast<double>(seat.join.gpus.size()));
    }
  }
  if (ranks != ranks_) {
    ranks_ = std::move(ranks);
    taker_.begin_anew(boards, job.now);
  }
  if (job.in_force == leader.agreed()) in_force_ = leader.agreed_by_all();
}

govern::LowerClocks RankClocks::positions(const agent::JobSetting& setting) const {
  govern::LowerClocks out;
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    if (const auto own = setting.lower.find(ranks_[i]); own != setting.lower.end()) out[i] = own->second;
  return out;
}

govern::Observation RankClocks::told(const agent::Leader& leader, const govern::Observation& job) {
  see(leader, job);
  govern::Observation out = taker_.told(job, in_force_.base, positions(in_force_));
  if (job.in_force == in_force_.of(agent::kOwn)) out.in_force = in_force_.base;
  return out;
}

agent::JobSetting RankClocks::next(const agent::Leader& leader, const govern::Observation& job,
                                   const govern::Decision& wanted, std::optional<govern::Left> left) {
  if (wanted.action == govern::Action::use_setting) base_ = wanted.setting;
  if (wanted.action == govern::Action::use_found) base_ = {};
  const bool there = in_force_.base == base_;
  const bool settled = job.in_force == leader.agreed() && leader.settled();
  const bool holds = there && wanted.action == govern::Action::wait && wanted.role == BlockRole::hold;
  const govern::LowerClocks& here = taker_.next(job, {.base = in_force_.base,
                                                      .in_force = positions(in_force_),
                                                      .settled = settled,
                                                      .holds = holds,
                                                      .left = left});
  agent::JobSetting out{.base = base_, .lower = {}};
  for (const auto& [rank, clock] : there ? here : taker_.given_for(base_)) out.lower[ranks_[rank]] = clock;
  return out;
}

govern::Decision lead(agent::Leader& leader, const OwnIterations& own, govern::Strategy& inner,
                      const govern::Observation& o, RankClocks* clocks) {
  const std::uint64_t epoch = o.in_force == leader.agreed() ? leader.epoch() : 0;
  leader.see(standing(o, own.by_marks, epoch), own.length, o.now);
  govern::Observation job = o;
  job.tally = leader.tally();
  const std::string why_not = leader.why_not();
  job.may_set = why_not.empty();
  job.under_load = o.under_load && (!job.may_set || leader.under_load());
  job.tuning = leader.tuning();
  job.shift = leader.take_shift();
  govern::Decision wanted = inner.next(clocks != nullptr ? clocks->told(leader, job) : job);
  if (clocks != nullptr) {
    const agent::JobSetting all = clocks->next(leader, job, wanted, inner.left());
    // Everybody's way back to the found setting is not crossed: the strategy asks again.
    const bool there = !all.base.empty() && leader.agreed_by_all().base == all.base;
    if (wanted.action != govern::Action::wait || there) leader.want(all, o.now);
    if (const auto trying = clocks->taker().trying(); trying && wanted.action == govern::Action::wait) {
      wanted.role = BlockRole::trial;
      wanted.why = *trying;
    }
  } else {
    if (wanted.action == govern::Action::use_setting) leader.want(wanted.setting, o.now);
    if (wanted.action == govern::Action::use_found) leader.want(Setting{}, o.now);
  }

  govern::Decision out{govern::Action::wait, {}, wanted.role, wanted.why, wanted.ask_again};
  if (leader.agreed() != o.in_force && o.may_set) {
    out.action = leader.agreed().empty() ? govern::Action::use_found : govern::Action::use_setting;
    out.setting = leader.agreed();
    out.role = BlockRole::warmup;
  } else if (leader.switching() || wanted.action != govern::Action::wait) {
    out.role = BlockRole::warmup;
  }
  if (!leader.everybody_here()) out.why = cat(why_not, "; ", out.why);
  leader.stage(out.role, wanted.why);
  return out;
}

govern::Decision obey(agent::Member& member, bool by_marks, const std::string& never,
                      const govern::Observation& o) {
  agent::Report report = standing(o, by_marks, 0);
  if (!never.empty()) {
    report.may_set = false;
    report.why_not = never;
  }
  member.see(std::move(report), o.in_force, o.now);
  const bool joined = member.state() == agent::Member::State::joined;
  govern::Decision out{govern::Action::wait, {}, BlockRole::warmup, member.why(), std::nullopt};
  if (joined && !member.stage().why.empty()) out.why = cat("rank 0: ", member.stage().why);
  if (member.agreed() != o.in_force) {
    if (!o.may_set) return out;
    out.action = member.agreed().empty() ? govern::Action::use_found : govern::Action::use_setting;
    out.setting = member.agreed();
  } else if (joined && !member.switching()) {
    out.role = member.stage().role;
  }
  return out;
}

}  // namespace rubato::conduct
