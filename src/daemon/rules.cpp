#include "daemon/rules.h"

#include <algorithm>

#include "base/percent.h"
#include "base/text.h"
#include "core/power_budget.h"

namespace rubato::daemon {
namespace {

constexpr std::string_view kWhereRulesStand = "an administrator changes the rules in rubatod's configuration";

template <class T>
bool among(const std::vector<T>& list, const T& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

bool in_groups(const Rule& rule, const Caller& caller) {
  return std::any_of(rule.groups.begin(), rule.groups.end(),
                     [&caller](gid_t group) { return group == caller.gid || among(caller.groups, group); });
}

/// "/a/b" is below "/a", "/ab" is not.
bool in_cgroups(const Rule& rule, const Caller& caller) {
  return std::any_of(rule.cgroups.begin(), rule.cgroups.end(), [&caller](const std::string& path) {
    const std::string_view own = caller.cgroup;
    return own.starts_with(path) &&
           (own.size() == path.size() || path.ends_with('/') || own[path.size()] == '/');
  });
}

bool is_for(const Rule& rule, const Caller& caller, const GpuId& gpu) {
  // Who chooses their ids would choose some that no other rule forbids.
  if (caller.in_user_namespace && rule.allow && !rule.user_namespaces) return false;
  if (!rule.users.empty() && !among(rule.users, caller.uid)) return false;
  if (!rule.groups.empty() && !in_groups(rule, caller)) return false;
  if (rule.any_slurm_job && !caller.slurm_job) return false;
  if (!rule.slurm_jobs.empty() && !(caller.slurm_job && among(rule.slurm_jobs, *caller.slurm_job)))
    return false;
  if (!rule.cgroups.empty() && !in_cgroups(rule, caller)) return false;
  return rule.gpus.empty() || among(rule.gpus, gpu);
}

bool has_knob(const Rule& rule, Knob knob) {
  return rule.knobs.empty() ? knob != Knob::application_clocks : among(rule.knobs, knob);
}

tl::unexpected<Error> against(const Rule& rule, const GpuId& gpu, std::string_view what,
                              std::string hint = {}) {
  return fail(ErrorCode::no_permission, cat(gpu.uuid, ": rubatod's rule '", rule.name, "' ", what),
              hint.empty() ? std::string(kWhereRulesStand) : std::move(hint));
}

Status may_promise(const Rule& rule, const GpuId& gpu, const std::optional<double>& promised) {
  if (!rule.max_slowdown) return {};
  const std::string say = cat("rubato run --max-slowdown ", number(100 * *rule.max_slowdown, 2), "% …");
  if (!promised)
    return against(
        rule, gpu,
        cat("wants a run that watches its slowdown, at most ", short_percent(*rule.max_slowdown, 2),
            ", and this one holds a setting of its own choice"),
        say);
  if (*promised <= *rule.max_slowdown) return {};
  return against(rule, gpu,
                 cat("allows at most ", short_percent(*rule.max_slowdown, 2), " more time, and ",
                     short_percent(*promised, 2), " is asked for"),
                 say);
}

Status lowest(const Rule& rule, const GpuId& gpu, std::string_view knob,
              const std::optional<ClockRange>& asked, const std::optional<Megahertz>& allowed) {
  if (!asked || !allowed || asked->max >= *allowed) return {};
  return against(
      rule, gpu,
      cat("allows ", knob, " clocks of ", *allowed, " or more, and ", asked->max, " is asked for"));
}

}  // namespace

std::string_view name_of(Mode mode) {
  return mode == Mode::manage ? "manage" : "observe";
}

const Rule* rule_for(const Rules& rules, const Caller& caller, const GpuId& gpu) {
  const auto found = std::find_if(rules.rules.begin(), rules.rules.end(),
                                  [&](const Rule& rule) { return is_for(rule, caller, gpu); });
  return found == rules.rules.end() ? nullptr : &*found;
}

Status may_lease(const Rules& rules, const Caller& caller, const wire::Acquire& request) {
  for (const GpuId& gpu : request.gpus) {
    const Rule* rule = rule_for(rules, caller, gpu);
    if (rule == nullptr)
      return fail(ErrorCode::no_permission, cat(gpu.uuid, ": no rule of rubatod is for ", describe(caller)),
                  caller.in_user_namespace
                      ? "run rubato outside the container; or an administrator lets it in by "
                        "user_namespaces = true in a rule of rubatod's configuration"
                      : std::string(kWhereRulesStand));
    if (!rule->allow) return against(*rule, gpu, "forbids it");
    for (const Knob knob : request.knobs)
      if (!has_knob(*rule, knob)) {
        std::string left;
        for (const Knob other : request.knobs)
          if (has_knob(*rule, other)) left += cat(left.empty() ? "--knobs " : ",", name_of(other));
        return against(*rule, gpu, cat("does not allow the knob ", name_of(knob)), std::move(left));
      }
    if (Status fine = may_promise(*rule, gpu, request.max_slowdown); !fine) return fine;
  }
  return {};
}

Status may_set(const Rule& rule, const GpuId& gpu, const Setting& setting) {
  if (const auto& limit = setting.power_limit) {
    if (rule.min_power_limit && *limit < *rule.min_power_limit)
      return against(
          rule, gpu,
          cat("allows a power limit of ", *rule.min_power_limit, " or more, and ", *limit, " is asked for"));
    if (rule.max_power_limit && *limit > *rule.max_power_limit)
      return against(
          rule, gpu,
          cat("allows a power limit of ", *rule.max_power_limit, " or less, and ", *limit, " is asked for"));
  }
  if (Status fine = lowest(rule, gpu, "SM", setting.sm_clock, rule.min_sm_clock); !fine) return fine;
  if (Status fine = lowest(rule, gpu, "memory", setting.memory_clock, rule.min_memory_clock); !fine)
    return fine;
  if (const auto& clocks = setting.application_clocks) {
    const ClockRange sm{clocks->sm, clocks->sm};
    const ClockRange memory{clocks->memory, clocks->memory};
    if (Status fine = lowest(rule, gpu, "SM", sm, rule.min_sm_clock); !fine) return fine;
    if (Status fine = lowest(rule, gpu, "memory", memory, rule.min_memory_clock); !fine) return fine;
  }
  return {};
}

Status keeps_budget(const Rules& rules, const GpuId& gpu, Watts asked, Watts now, Watts others) {
  if (!rules.node_power_budget || keeps_power_budget(*rules.node_power_budget, asked, now, others)) return {};
  return fail(ErrorCode::no_permission,
              cat(gpu.uuid, ": a power limit of ", asked, " beside ", others,
                  " of the other GPUs is above the node's budget of ", *rules.node_power_budget),
              std::string(kWhereRulesStand));
}

}  // namespace rubato::daemon
