#include "exporter/history.h"

#include <map>

#include "exporter/json_pieces.h"

namespace rubato::exporter {
namespace {

/// The columns of one GPU or run, made when it is first seen.
Json& columns_of(std::map<std::string, Json>& all, const std::string& of,
                 std::initializer_list<const char*> names) {
  Json& out = all[of];
  if (out.is_null())
    for (const char* name : names) out[name] = Json::array();
  return out;
}

Json listed(const std::map<std::string, Json>& all, const char* key) {
  Json out = Json::array();
  for (const auto& [of, columns] : all) {
    Json one = Json::object();
    one[key] = of;
    one.update(columns);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

void History::add(double unix_s, const PageState& state, TimePoint now,
                  const std::vector<record::RunState>& runs) {
  Moment moment{unix_s, {}, {}};
  for (const GpuState& gpu : state.gpus) {
    OfGpu& out = moment.gpus.emplace_back(OfGpu{gpu.identity.id.uuid, {}, {}, {}, {}, {}, {}, {}});
    if (gpu.silent(now)) continue;
    out.power = gpu.fast->power;
    if (!gpu.slow || now - gpu.slow->at > gpu.stale_after) continue;
    out.enforced = gpu.slow->enforced_limit;
    out.requested = gpu.slow->requested_limit;
    out.sm_clock = gpu.slow->sm_clock;
    out.memory_clock = gpu.slow->memory_clock;
    out.temperature = gpu.slow->temperature;
    out.sm_utilisation = gpu.slow->sm_utilisation;
  }
  for (const record::RunState& run : runs)
    moment.runs.push_back({run.run_id, run.doing, run.iteration ? run.iteration->period : std::nullopt});
  const std::lock_guard lock(mutex_);
  // A clock that was set back would leave the oldest ones for ever.
  while (!moments_.empty() &&
         (unix_s - moments_.front().unix_s > kLength.value() || moments_.back().unix_s > unix_s))
    moments_.pop_front();
  moments_.push_back(std::move(moment));
}

std::string History::json() const {
  std::deque<Moment> moments;
  {
    const std::lock_guard lock(mutex_);
    moments = moments_;
  }
  std::map<std::string, Json> gpus;
  std::map<std::string, Json> runs;
  for (const Moment& moment : moments) {
    for (const OfGpu& gpu : moment.gpus) {
      Json& to = columns_of(gpus, gpu.uuid,
                            {"at_s", "power_w", "power_limit_enforced_w", "power_limit_requested_w",
                             "sm_clock_mhz", "memory_clock_mhz", "temperature_c", "sm_utilisation"});
      to["at_s"].push_back(moment.unix_s);
      to["power_w"].push_back(figure(gpu.power));
      to["power_limit_enforced_w"].push_back(figure(gpu.enforced));
      to["power_limit_requested_w"].push_back(figure(gpu.requested));
      to["sm_clock_mhz"].push_back(figure(gpu.sm_clock));
      to["memory_clock_mhz"].push_back(figure(gpu.memory_clock));
      to["temperature_c"].push_back(figure(gpu.temperature));
      to["sm_utilisation"].push_back(figure(gpu.sm_utilisation));
    }
    for (const OfRun& run : moment.runs) {
      Json& to = columns_of(runs, run.run_id, {"at_s", "iteration_s", "doing"});
      to["at_s"].push_back(moment.unix_s);
      to["iteration_s"].push_back(figure(run.iteration));
      to["doing"].push_back(run.doing);
    }
  }
  return one_line(Json{{"schema", "rubato.dashboard_history/1"},
                       {"gpus", listed(gpus, "uuid")},
                       {"runs", listed(runs, "run_id")}});
}

}  // namespace rubato::exporter
