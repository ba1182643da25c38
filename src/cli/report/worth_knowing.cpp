#include "cli/report/worth_knowing.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "report/format.h"

namespace rubato::cli {
namespace {

// A GPU's gaps below this part of the run change no figure by more than the sensor's own error does ...
constexpr double kSmallPart = 0.01;
// ... unless one of them hides an event. Where the sensor's rate is unknown the slowest usual one is taken.
constexpr int kShortInUpdates = 10;
constexpr Seconds kSlowSensor{0.1};

/// Whose gap it is: a GPU's, a meter's, or, with neither, everybody's.
struct Whose {
  std::optional<GpuId> gpu;
  std::optional<std::size_t> channel;
  friend auto operator<=>(const Whose&, const Whose&) = default;
};

Whose whose(const record::Gap& gap) {
  return {gap.gpu, gap.channel};
}

struct Lost {
  Whose of;
  std::string why;
  TimePoint first;
  int times = 0;
  Seconds together;
};

Seconds update_period(const record::RunRecord& run, const Whose& of) {
  if (of.channel && *of.channel < run.channels.size())
    return run.channels[*of.channel].info.channel.sensor.update_period.value_or(kSlowSensor);
  Seconds slowest(0);
  for (const record::DeviceRecord& d : run.devices)
    if (!of.gpu || d.info.identity.id == *of.gpu)
      slowest = std::max(slowest, d.info.sensor.update_period.value_or(kSlowSensor));
  return slowest;
}

bool negligible(const record::RunRecord& run, const std::optional<Seconds>& duration, const Whose& of) {
  if (!duration) return false;
  const Seconds is_short = update_period(run, of) * kShortInUpdates;
  Seconds together(0);
  for (const record::Gap& gap : run.gaps) {
    if (whose(gap) != of) continue;
    if (gap.end - gap.begin > is_short) return false;
    together += gap.end - gap.begin;
  }
  return together < *duration * kSmallPart;
}

// Reasons begin with the GPU's name where the driver or the sampler gave them; the line says already which it
// is.
std::string reason(const record::RunRecord& run, const record::Gap& gap) {
  for (const record::DeviceRecord& d : run.devices) {
    const std::string prefix = cat(d.info.identity.name, ": ");
    if (gap.gpu == d.info.identity.id && gap.why.starts_with(prefix)) return gap.why.substr(prefix.size());
  }
  return gap.why;
}

std::vector<Lost> collapsed(const record::RunRecord& run, const std::optional<Seconds>& duration) {
  std::map<Whose, bool> left_out;
  for (const record::Gap& gap : run.gaps)
    if (!left_out.contains(whose(gap))) left_out[whose(gap)] = negligible(run, duration, whose(gap));
  std::vector<Lost> rows;
  for (const record::Gap& gap : run.gaps) {
    if (left_out[whose(gap)]) continue;
    const std::string why = reason(run, gap);
    auto row = std::ranges::find_if(rows, [&](const Lost& r) { return r.of == whose(gap) && r.why == why; });
    if (row == rows.end()) row = rows.insert(row, Lost{whose(gap), why, gap.begin, 0, Seconds(0)});
    ++row->times;
    row->together += gap.end - gap.begin;
  }
  return rows;
}

bool expected(const record::SettingChange& change) {
  if (change.who == "someone else") return false;
  if (change.who == "guard")
    return change.outcome.starts_with("restored") || change.outcome.starts_with("not_needed");
  return change.outcome == "applied" || change.outcome == "restored";
}

std::string spoken_gpu(const analyse::Summary& summary, const GpuId& id) {
  for (const auto& g : summary.gpus)
    if (g.identity.id == id) return cat("GPU ", g.identity.index);
  return id.uuid;
}

}  // namespace

std::vector<Event> worth_knowing(const record::RunRecord& run, const analyse::Summary& summary) {
  std::vector<Event> events;
  for (const record::SettingChange& change : run.setting_changes) {
    if (expected(change)) continue;
    const Setting& setting = change.asked.empty() ? change.requested : change.asked;
    events.push_back({change.at, cat(change.who, ", ", spoken_gpu(summary, change.gpu), ": ",
                                     setting.empty() ? "" : cat(describe(setting), ", "), change.outcome)});
  }
  for (const Lost& lost : collapsed(run, summary.duration)) {
    const std::string of_run = summary.duration ? cat(" (of ", report::text_of(*summary.duration), ")") : "";
    const std::string length =
        cat(lost.times == 1 ? "for " : cat(lost.times, " times, "), report::text_of(lost.together),
            lost.times == 1 ? "" : " together", of_run);
    // A meter's gap names it in its words.
    if (lost.of.channel)
      events.push_back({lost.first, cat(lost.why, ", ", length)});
    else
      events.push_back({lost.first, cat(lost.of.gpu ? spoken_gpu(summary, *lost.of.gpu) : "all GPUs",
                                        ": nothing recorded ", length, ": ", lost.why)});
  }
  for (const analyse::Remark& problem : summary.timeline.problems)
    events.push_back({problem.at, cat("told by the job's hooks: ", problem.text)});
  std::ranges::stable_sort(events, {}, &Event::at);
  return events;
}

}  // namespace rubato::cli
