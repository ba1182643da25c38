#include "cli/sweep_options.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "report/format.h"

namespace rubato::cli {
namespace {

constexpr std::size_t kLongestName = 60;

/// "python3 train.py --lr 0.1" → "python3-train.py-lr-0.1".
std::string file_name_of(const std::string& workload) {
  std::string out;
  for (const char c : workload) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (plain)
      out += c;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  while (!out.empty() && (out.back() == '-' || out.back() == '.')) out.pop_back();
  return out.empty() ? "command" : out.substr(0, kLongestName);
}

std::string knob_text(const experiment::KnobValues& knob) {
  std::string out = cat(name_of(knob.knob), "=");
  for (std::size_t i = 0; i < knob.values.size(); ++i) out += cat(i == 0 ? "" : ",", knob.values[i]);
  return out;
}

}  // namespace

bool SweepPlan::sweeps(Knob knob) const {
  return std::any_of(knobs.begin(), knobs.end(), [knob](const auto& k) { return k.knob == knob; });
}

Result<SweepPlan> plan_sweep(const SweepOptions& options, const std::vector<std::string>& command) {
  if (command.empty())
    return fail(ErrorCode::invalid_argument, "no command to sweep: put it behind --",
                "rubato sweep --knob power-limit=100:250:25 -- python3 train.py");
  SweepPlan plan;
  for (const std::string& text : options.knobs) {
    auto knob = experiment::parse_knob_values(text);
    if (!knob) return fail(knob.error());
    plan.knobs.push_back(std::move(*knob));
  }
  auto grid = experiment::grid_of(plan.knobs);
  if (!grid) return fail(grid.error());
  plan.grid = std::move(*grid);
  const auto order = experiment::parse_sweep_order(options.order);
  if (!order) return fail(order.error());
  plan.schedule = {*order, options.repeats, options.control_every, options.run.seed};
  const auto bound = parse_max_slowdown(options.max_slowdown);
  if (!bound) return fail(bound.error());
  plan.max_slowdown = *bound;
  plan.warmup = options.within ? 0 : options.warmup;
  if (options.within && options.stop_early)
    return fail(ErrorCode::invalid_argument,
                "--stop-early is for whole runs: --within takes all settings in one",
                "leave one of the two out");
  plan.command = report::command_line(command);
  plan.workload = options.workload.empty() ? plan.command.substr(0, kLongestName) : options.workload;
  std::replace_if(
      plan.workload.begin(), plan.workload.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  plan.group = options.group.empty() ? plan.workload : options.group;
  plan.output = options.output.empty() ? cat("sweep-", file_name_of(plan.workload), ".csv") : options.output;
  plan.state = plan.output;
  plan.state += ".state";
  return plan;
}

experiment::SweepIdentity identity_of(const SweepPlan& plan, const SweepOptions& options,
                                      const std::string& gpus, std::map<std::string, std::string> found) {
  std::string knobs;
  for (const auto& knob : plan.knobs) knobs += cat(knobs.empty() ? "" : " ", knob_text(knob));
  experiment::SweepIdentity identity;
  identity.asked = {{"command", plan.command},
                    {"--knob", knobs},
                    {"--order", options.order},
                    {"--repeats", cat(options.repeats)},
                    {"--control-every", cat(options.control_every)},
                    {"--seed", cat(options.run.seed)},
                    {"--gpu", gpus}};
  if (options.within) identity.asked["--within"] = cat(options.iterations, " iterations");
  // No driver tells a lock: what is stated of it, where nothing is stated as where there is none.
  const std::string& lock = options.run.wanted.found_sm_clock;
  found["SM clock lock (--found-sm-clock)"] = lock.empty() ? "none" : lock;
  identity.found = std::move(found);
  return identity;
}

Status check_output(const SweepPlan& plan, bool force) {
  std::error_code ignored;
  if (std::filesystem::is_directory(plan.output, ignored))
    return fail(ErrorCode::invalid_argument, cat("-o ", plan.output.string(), " is a folder"));
  const auto folder = plan.output.parent_path();
  const std::string place = folder.empty() ? "." : folder.string();
  if (access(place.c_str(), W_OK) != 0)
    return fail(from_errno(errno, cat("the table cannot be written to ", plan.output.string())));
  if (force || !std::filesystem::exists(plan.output, ignored) || std::filesystem::exists(plan.state, ignored))
    return {};
  return fail(ErrorCode::conflict, cat(plan.output.string(), " is already there"),
              "choose another name with -o, or replace it with --force");
}

}  // namespace rubato::cli
