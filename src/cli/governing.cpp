#include "cli/governing.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "cli/power_budget.h"
#include "cli/wanted.h"
#include "govern/measure_only_strategy.h"
#include "govern/registry.h"

namespace rubato::cli {
namespace {

constexpr std::string_view kFixed = "fixed";
constexpr double kDay = 86'400;

/// Without what follows it: "+mix", "@published".
std::string_view plain(std::string_view name) {
  return name.substr(0, name.find_first_of("+@"));
}

bool known(std::string_view name) {
  const auto all = govern::strategies();
  return std::any_of(all.begin(), all.end(), [&](const auto& entry) { return entry.name == plain(name); });
}

Error no_deadline(const std::string& text) {
  return {ErrorCode::invalid_argument, cat("--deadline ", text, " is neither a time to come nor a duration"),
          "write it as 90m, 2h30m, 18:30 or 2026-11-22T18:30"};
}

std::optional<Seconds> duration(const std::string& text) {
  if (const auto seconds = parse_number(text)) return Seconds(*seconds);
  double sum = 0;
  std::string digits;
  for (const char c : text) {
    if ((c >= '0' && c <= '9') || c == '.') {
      digits += c;
      continue;
    }
    const auto value = parse_number(digits);
    const double unit = c == 'd' ? kDay : c == 'h' ? 3600 : c == 'm' ? 60 : c == 's' ? 1 : 0;
    if (!value || unit == 0) return std::nullopt;
    sum += *value * unit;
    digits.clear();
  }
  if (!digits.empty()) return std::nullopt;
  return Seconds(sum);
}

std::optional<int> whole(const std::string& text, int low, int high) {
  const auto value = parse_integer(text);
  if (!value || *value < low || *value > high) return std::nullopt;
  return static_cast<int>(*value);
}

/// Hours, minutes and seconds of `text` into `time`; false where it is no time of day.
bool set_time_of_day(const std::string& text, std::tm& time) {
  const auto parts = split(text, ':');
  if (parts.size() != 2 && parts.size() != 3) return false;
  const auto hour = whole(parts[0], 0, 23);
  const auto minute = whole(parts[1], 0, 59);
  const auto second = parts.size() == 3 ? whole(parts[2], 0, 59) : std::optional(0);
  if (!hour || !minute || !second) return false;
  time.tm_hour = *hour;
  time.tm_min = *minute;
  time.tm_sec = *second;
  time.tm_isdst = -1;
  return true;
}

bool set_date(const std::string& text, std::tm& time) {
  const auto parts = split(text, '-');
  if (parts.size() != 3) return false;
  const auto year = whole(parts[0], 2000, 9999);
  const auto month = whole(parts[1], 1, 12);
  const auto day = whole(parts[2], 1, 31);
  if (!year || !month || !day) return false;
  time.tm_year = *year - 1900;
  time.tm_mon = *month - 1;
  time.tm_mday = *day;
  return true;
}

std::optional<Seconds> clock_time(const std::string& text, std::time_t now) {
  std::tm time{};
  localtime_r(&now, &time);
  const auto t = text.find('T');
  if (t != std::string::npos && !set_date(text.substr(0, t), time)) return std::nullopt;
  if (!set_time_of_day(t == std::string::npos ? text : text.substr(t + 1), time)) return std::nullopt;
  std::time_t end = std::mktime(&time);
  if (t == std::string::npos && end <= now) {
    ++time.tm_mday;
    time.tm_isdst = -1;
    end = std::mktime(&time);
  }
  return Seconds(std::difftime(end, now));
}

/// Whoever schedules jobs says when this one is ended; a value that makes no sense is none.
std::optional<Seconds> end_of_allocation(std::time_t now,
                                         const std::map<std::string, std::string>& environment) {
  const auto end = environment.find("SLURM_JOB_END_TIME");
  if (end == environment.end()) return std::nullopt;
  const auto seconds = parse_integer(end->second);
  if (!seconds || *seconds <= now) return std::nullopt;
  return Seconds(static_cast<double>(*seconds - now));
}

Result<std::vector<Knob>> parse_knobs(const std::vector<std::string>& names) {
  std::vector<Knob> knobs;
  for (const std::string& name : names) {
    const auto knob = parse_tunable_knob(name);
    if (!knob) return fail(knob.error());
    if (std::find(knobs.begin(), knobs.end(), *knob) == knobs.end()) knobs.push_back(*knob);
  }
  return knobs;
}

Result<Goal> parse_goal(const GoverningText& text) {
  Goal goal;
  const auto bound = parse_max_slowdown(text.max_slowdown);
  if (!bound) return fail(bound.error());
  goal.max_slowdown = bound->value_or(goal.max_slowdown);
  if (!text.objective.empty()) {
    const auto objective = parse_objective_of_run(text.objective);
    if (!objective) return fail(objective.error());
    goal.objective = *objective;
  }
  if (const Status fine = add_to_goal(text.second, goal); !fine) return fail(fine.error());
  if (!text.second.eta) return goal;
  if (const auto weight = worth_of_second(*text.second.eta, Watts(1)); !weight) return fail(weight.error());
  if (goal.objective != Objective::energy)
    return fail(
        ErrorCode::invalid_argument,
        cat("--eta weighs energy against time, and --objective ", name_of(goal.objective), " does too"),
        "leave one of the two out");
  return goal;
}

}  // namespace

Result<Seconds> parse_deadline(const std::string& text, std::time_t now) {
  const auto from_now = duration(text);
  const auto left = from_now ? from_now : clock_time(text, now);
  if (!left || !std::isfinite(left->value()) || *left <= Seconds(0)) return fail(no_deadline(text));
  return *left;
}

Result<Objective> parse_objective_of_run(std::string_view text) {
  constexpr const char* kThose = "use one of: energy, edp, ed2p, cost";
  const auto objective = parse_objective(text);
  if (!objective) return fail(objective.error().code, objective.error().what, kThose);
  if (*objective == Objective::time)
    return fail(
        ErrorCode::invalid_argument, "--objective time: no setting is faster than the one that is found",
        cat(kThose, "; under a budget of watts the least time is what is looked for: --power-budget 1200W"));
  return *objective;
}

Result<std::optional<Governing>> parse_governing(const GoverningText& text, bool setting_given,
                                                 std::time_t now,
                                                 const std::map<std::string, std::string>& environment) {
  if (!text.strategy.empty() && !known(text.strategy))
    return fail(govern::make_strategy(text.strategy, {}).error());
  if (text.strategy == kFixed && !setting_given) return fail(govern::make_strategy(kFixed, {}).error());
  if (!text.power_budget.empty()) {
    auto budgeted = under_power_budget(text, setting_given);
    if (!budgeted) return fail(budgeted.error());
    return std::move(*budgeted);
  }
  // Wrong is wrong, whether it would be needed or not.
  const auto goal = parse_goal(text);
  if (!goal) return fail(goal.error());
  auto knobs = parse_knobs(text.knobs);
  if (!knobs) return fail(knobs.error());
  std::optional<Seconds> time_left = end_of_allocation(now, environment);
  if (!text.deadline.empty()) {
    const auto left = parse_deadline(text.deadline, now);
    if (!left) return fail(left.error());
    time_left = *left;
  }
  const bool chooses =
      !text.strategy.empty() && text.strategy != kFixed && text.strategy != govern::kMeasureOnly;
  if (setting_given && chooses)
    return fail(ErrorCode::invalid_argument,
                cat("--strategy ", text.strategy, " chooses the setting itself, and one was given too"),
                "leave --strategy out, or the setting");
  if (!chooses && (setting_given || !text.strategy.empty() || !known(kOwnStrategy))) return std::nullopt;
  return Governing{.strategy = chooses ? text.strategy : std::string(kOwnStrategy),
                   .goal = *goal,
                   .eta = text.second.eta,
                   .knobs = std::move(*knobs),
                   .time_left = time_left,
                   .memory = !text.no_memory};
}

std::string describe(const Goal& goal) {
  if (goal.power_budget)
    return cat("the least time with power limits of together ", *goal.power_budget, " at most");
  std::string what = goal.objective == Objective::energy ? "the least energy"
                     : goal.objective == Objective::cost ? "the least cost"
                                                         : cat("the least ", name_of(goal.objective));
  what += goal.max_slowdown > 0 ? cat(", at most ", number(goal.max_slowdown * 100, 2), " % slower")
                                : std::string(", no slower");
  if (goal.host_watts) what += cat(", with a host of ", *goal.host_watts);
  if (goal.second) what += cat(", a second worth ", Joules(goal.second->value()));
  if (goal.idle) what += cat(", net of ", *goal.idle, " that an idle board draws");
  return what;
}

}  // namespace rubato::cli
