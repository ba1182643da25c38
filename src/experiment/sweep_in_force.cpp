#include "experiment/sweep_in_force.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "plan/setting_of.h"

namespace rubato::experiment {
namespace {

constexpr double kLoadedUtilisation = 0.10;
// Clocks and the limiter follow a change within a second.
constexpr Seconds kSettles{1.0};
// Work done before the setting was in force: a job must hold the GPU before it may be set.
constexpr double kMostOutside = 0.05;
constexpr Watts kSameLimit{1.0};
// Boost clocks come in steps of 7.5 or 15 MHz, and a reading may lie between two.
constexpr Megahertz kSameClock{20.0};
constexpr double kSameClockShare = 0.015;
constexpr double kOften = 0.1;
// Without a limiter in force, boards differ from hour to hour by a few steps of their clock, by temperature.
constexpr double kClearlyBelow = 0.9;

template <class Unit>
std::optional<Unit> median(const std::vector<SlowReading>& readings, std::optional<Unit> SlowReading::*what) {
  std::vector<Unit> values;
  for (const auto& reading : readings)
    if (reading.*what) values.push_back(*(reading.*what));
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<std::string> limiters_of(const std::vector<SlowReading>& readings) {
  constexpr std::array<std::pair<bool LimiterReasons::*, std::string_view>, 4> kNames = {
      {{&LimiterReasons::power_cap, "power cap"},
       {&LimiterReasons::thermal, "heat"},
       {&LimiterReasons::hardware, "hardware slowdown"},
       {&LimiterReasons::other, "another reason"}}};
  std::vector<std::string> names;
  for (const auto& [reason, name] : kNames) {
    const auto hits =
        std::count_if(readings.begin(), readings.end(),
                      [reason = reason](const SlowReading& r) { return r.limiter && (*r.limiter).*reason; });
    if (hits > 0 && static_cast<double>(hits) >= kOften * static_cast<double>(readings.size()))
      names.emplace_back(name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const auto& part : parts) out += cat(out.empty() ? "" : ", ", part);
  return out;
}

void judge_clock(std::string_view which, std::optional<Megahertz> asked, std::optional<Megahertz> reached,
                 InForce& out) {
  if (!asked || out.objection) return;
  if (!reached) {
    out.notes.push_back(cat("the ", which, " clock cannot be read here, so it is not checked"));
    return;
  }
  const Megahertz slack = std::max(kSameClock, *asked * kSameClockShare);
  if (abs(*reached - *asked) <= slack) return;
  const std::string found =
      cat("the ", which, " clock under load was ", *reached, ", asked for was ", *asked);
  if (*reached < *asked && !out.reached.limiters.empty())
    out.notes.push_back(cat(found, "; held down by ", joined(out.reached.limiters)));
  else
    out.objection = found;
}

std::string what_came_instead(const record::SettingChange& change) {
  if (change.outcome != "applied") return change.outcome;
  return cat(change.asked.empty() ? "the found setting" : describe(change.asked), " was set in its place");
}

/// Why a change after the setting was applied says that it did not stay.
std::string what_came_after(const record::SettingChange& change, const Setting& asked) {
  if (change.outcome != "applied") return "the setting did not stay: " + change.outcome;
  if (change.asked == asked)
    return "the setting did not stay: it was set a second time, so somebody, or the guard, had put it back "
           "in between";
  return cat("the setting did not stay: ",
             change.asked.empty() ? "the found one came back" : describe(change.asked) + " was set");
}

/// With the GPU at work for more than this share of the time.
std::vector<SlowReading> readings_above(double utilisation, const record::DeviceRecord& device,
                                        TimePoint begin, TimePoint end) {
  std::vector<SlowReading> found;
  for (const SlowReading& reading : device.slow)
    if (reading.at >= begin && reading.at <= end && reading.sm_utilisation.value_or(1.0) > utilisation)
      found.push_back(reading);
  return found;
}

}  // namespace

std::vector<SlowReading> loaded_readings(const record::DeviceRecord& device, TimePoint begin, TimePoint end) {
  return readings_above(kLoadedUtilisation, device, begin, end);
}

InForce judge_readings(const std::vector<SlowReading>& loaded, const predict::KnobPoint& at) {
  InForce out;
  out.reached = {median(loaded, &SlowReading::sm_clock), median(loaded, &SlowReading::memory_clock),
                 median(loaded, &SlowReading::enforced_limit), limiters_of(loaded)};
  if (at == predict::KnobPoint{}) return out;
  if (loaded.empty()) {
    out.objection =
        "no reading of the GPU at work for a tenth of the time: it takes a second or two of load to see "
        "whether a clock took";
    return out;
  }
  if (at.power_limit) {
    const auto requested = median(loaded, &SlowReading::requested_limit);
    const auto& enforced = out.reached.enforced_limit;
    if (requested && abs(*requested - *at.power_limit) > kSameLimit)
      out.objection = cat("the driver says a limit of ", *requested, " was requested, not ", *at.power_limit);
    else if (enforced && abs(*enforced - *at.power_limit) > kSameLimit)
      out.objection =
          cat("the enforced limit under load was ", *enforced, ", asked for was ", *at.power_limit);
    else if (!enforced && !requested)
      out.notes.emplace_back("the power limit cannot be read back here, so it is not checked");
  }
  judge_clock("SM", at.sm_clock, out.reached.sm_clock, out);
  judge_clock("memory", at.memory_clock, out.reached.memory_clock, out);
  return out;
}

InForce judge_run(const record::RunRecord& run, const record::DeviceRecord& device,
                  const predict::KnobPoint& at) {
  const TimePoint end = run.end ? run.end->end : run.info.begin;
  const auto all = loaded_readings(device, run.info.begin, end);
  if (at == predict::KnobPoint{}) return judge_readings(all, at);

  const Setting asked = plan::setting_of(at);
  const record::SettingChange* applied = nullptr;
  std::optional<std::string> objection;
  for (const auto& change : run.setting_changes) {
    if (change.gpu != device.info.identity.id) continue;
    if (applied == nullptr && change.outcome == "applied" && change.asked == asked)
      applied = &change;
    else if (change.at < end && !objection)
      objection = cat(change.who == "rubato" ? "" : change.who + ": ",
                      applied == nullptr ? what_came_instead(change) : what_came_after(change, asked));
  }
  if (applied == nullptr) {
    InForce out;
    out.objection = objection.value_or("it was never set: the job was not seen to compute on this GPU alone");
    return out;
  }
  auto readings = loaded_readings(device, applied->at + kSettles, end);
  const bool idle = readings.empty() && !at.sm_clock && !at.memory_clock;
  // A power limit reads back whatever the GPU does.
  if (idle) readings = readings_above(-1, device, applied->at + kSettles, end);
  InForce out = judge_readings(readings, at);
  if (idle && !readings.empty())
    out.notes.emplace_back(
        "the GPU computed for less than a tenth of the time: its power limit was read back without load");
  if (objection) out.objection = objection;
  if (out.objection || all.empty()) return out;
  const Seconds work = end - all.front().at;
  const Seconds before = applied->at - all.front().at;
  if (before > work * kMostOutside)
    out.objection = cat("the job had worked for ", before, " of its ", work,
                        " before it could be set: a longer command is needed");
  return out;
}

std::optional<std::string> found_clock_moved(const Reached& before, const Reached& now) {
  if (!before.sm_clock || !now.sm_clock) return std::nullopt;
  const Reached& lower = *before.sm_clock < *now.sm_clock ? before : now;
  const Megahertz higher = std::max(*before.sm_clock, *now.sm_clock);
  if (*lower.sm_clock >= higher * kClearlyBelow || !lower.limiters.empty()) return std::nullopt;
  return cat(
      "as found, the GPU runs at ", *now.sm_clock, " under load, and ran at ", *before.sm_clock,
      " before the interruption: no limiter says why, so its clocks may have been locked; put the lock "
      "back as it was, or state with --found-sm-clock none that there never was one");
}

}  // namespace rubato::experiment
