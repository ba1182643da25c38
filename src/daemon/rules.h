// What an administrator allows, and whether a request keeps to it. Pure: no file, no driver, no clock.
// docs/daemon.md has the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/gpu_id.h"
#include "core/setting.h"
#include "daemon/caller.h"
#include "wire/message.h"

namespace rubato::daemon {

/// `observe`: judges and writes down every request, and sets nothing.
enum class Mode { observe, manage };

[[nodiscard]] std::string_view name_of(Mode mode);

/// Who it is for (every list that is not empty must hold), and what they may do. The first rule that is for a
/// caller and a GPU counts, and no other.
struct Rule {
  std::string name;
  std::vector<uid_t> users;
  std::vector<gid_t> groups;  // the caller's own, or one of the supplementary ones
  std::vector<std::int64_t> slurm_jobs;
  bool any_slurm_job = false;        // the caller runs in some job of Slurm
  std::vector<std::string> cgroups;  // whose path is one of these or below
  std::vector<GpuId> gpus;           // empty: all

  bool allow = true;
  std::vector<Knob> knobs;  // empty: all but application clocks
  std::optional<Watts> min_power_limit;
  std::optional<Watts> max_power_limit;
  std::optional<Megahertz> min_sm_clock;
  std::optional<Megahertz> min_memory_clock;
  std::optional<double> max_slowdown;  // a fraction, which the client has to promise
  bool shared = false;                 // even where others compute on the GPU
  bool user_namespaces = false;        // for callers in them too, as what forbids always is
};

struct Rates {
  double messages_per_s = 500;        // of one connection; more wait in its socket
  double user_messages_per_s = 2000;  // of all connections of one user but root; more wait likewise
  double settings_per_s = 100;        // of one lease; more are refused
  double leases_per_s = 10;           // of one user; more are refused
  unsigned connections = 4096;
  unsigned connections_per_user = 64;
};

/// While one of these is so, nothing is set, and what was set is put back.
struct NeverDuring {
  std::string name;
  std::string process;  // a process of this name runs (/proc/PID/comm); empty: not asked
  std::string file;     // this file exists; empty: not asked
};

struct Rules {
  Mode mode = Mode::observe;
  std::vector<Rule> rules{Rule{.name = "default"}};
  std::vector<NeverDuring> never;
  /// For the sum of the power limits of all managed GPUs.
  std::optional<Watts> node_power_budget;
  Rates rates;
};

/// Null: none.
[[nodiscard]] const Rule* rule_for(const Rules& rules, const Caller& caller, const GpuId& gpu);

/// no_permission, naming the rule and what it wants; the hint is for the person who asked.
[[nodiscard]] Status may_lease(const Rules& rules, const Caller& caller, const wire::Acquire& request);
[[nodiscard]] Status may_set(const Rule& rule, const GpuId& gpu, const Setting& setting);

/// Whether a limit of `asked` in the place of `now`, with `others` being the sum of all other GPUs, keeps to
/// the budget. Lowering always does.
[[nodiscard]] Status keeps_budget(const Rules& rules, const GpuId& gpu, Watts asked, Watts now, Watts others);

}  // namespace rubato::daemon
