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

govern::Decision lead(agent::Leader& leader, const OwnIterations& own, govern::Strategy& inner,
                      const govern::Observation& o) {
  const std::uint64_t epoch = o.in_force == leader.agreed() ? leader.epoch() : 0;
  leader.see(standing(o, own.by_marks, epoch), own.length, o.now);
  govern::Observation job = o;
  job.tally = leader.tally();
  const std::string why_not = leader.why_not();
  job.may_set = why_not.empty();
  job.under_load = o.under_load && (!job.may_set || leader.under_load());
  job.tuning = leader.tuning();
  job.shift = leader.take_shift();
  const govern::Decision wanted = inner.next(job);
  if (wanted.action == govern::Action::use_setting) leader.want(wanted.setting, o.now);
  if (wanted.action == govern::Action::use_found) leader.want({}, o.now);

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
