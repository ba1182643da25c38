#include "exporter/node_json.h"

#include <algorithm>

#include "exporter/json_pieces.h"

namespace rubato::exporter {
namespace {

Json limiter_json(const std::optional<LimiterReasons>& why) {
  if (!why) return nullptr;
  Json out = Json::array();
  const auto add = [&out](bool active, const char* name) {
    if (active) out.push_back(name);
  };
  add(why->power_cap, "power_cap");
  add(why->thermal, "thermal");
  add(why->hardware, "hardware");
  add(why->user_clocks, "user_clocks");
  add(why->other, "other");
  add(why->idle, "idle");
  return out;
}

const char* setting_word(SettingGuard guard) {
  switch (guard) {
    case SettingGuard::none:
      return "as_found";
    case SettingGuard::alive:
      return "held";
    case SettingGuard::dead:
      return "unrestored";
    case SettingGuard::unknown:
      break;
  }
  return nullptr;
}

/// The limit a run found, and will put back: of the one that uses the GPU now.
std::optional<Watts> found_limit(const std::string& uuid, const std::vector<record::RunState>& runs) {
  for (const record::RunState& run : runs)
    for (const record::RunStateGpu& gpu : run.gpus)
      if (gpu.uuid == uuid && gpu.used_by_job.value_or(true) && gpu.found_limit) return gpu.found_limit;
  return std::nullopt;
}

void add_energy(Json& out, const GpuState& gpu) {
  const bool known = gpu.energy.has_value();
  out["energy_j"] = known ? Json(gpu.energy->energy.value()) : Json(nullptr);
  out["energy_band_sampling_j"] = known ? Json(gpu.energy->band_sampling.value()) : Json(nullptr);
  out["energy_band_calibration_j"] = known ? Json(gpu.energy->band_calibration.value()) : Json(nullptr);
  out["energy_source"] = known ? Json(gpu.energy->source.name) : Json(nullptr);
}

/// `read`: the GPU answers; else there are no figures of now.
Json gpu_json(const NodeState& node, const GpuState& gpu, SettingGuard guard) {
  const bool read = !gpu.silent(node.now);
  const bool slow_read = read && gpu.slow && node.now - gpu.slow->at <= gpu.stale_after;
  const FastReading fast = read ? *gpu.fast : FastReading{};
  const SlowReading slow = slow_read ? *gpu.slow : SlowReading{};
  const char* setting = setting_word(guard);
  Json out{
      {"uuid", gpu.identity.id.uuid},
      {"name", gpu.identity.name},
      {"index", gpu.identity.index},
      {"pci_bus_id", gpu.identity.pci_bus_id},
      {"kind", name_of(gpu.kind)},
      {"answers", read},
      {"reading_age_s",
       gpu.fast ? Json(std::max(0.0, (node.now - gpu.fast->at).value()) / node.clock_rate) : Json(nullptr)},
      {"power_w", figure(fast.power)},
      {"module_power_w", figure(fast.module_power)},
      {"memory_power_w", figure(fast.memory_power)},
      {"power_limit_requested_w", figure(slow.requested_limit)},
      {"power_limit_enforced_w", figure(slow.enforced_limit)},
      {"power_limit_found_w", figure(found_limit(gpu.identity.id.uuid, node.runs))},
      {"power_limit_default_w", gpu.limits ? Json(gpu.limits->default_limit.value()) : Json(nullptr)},
      {"power_limit_min_w", gpu.limits ? Json(gpu.limits->min.value()) : Json(nullptr)},
      {"power_limit_max_w", gpu.limits ? Json(gpu.limits->max.value()) : Json(nullptr)},
      {"sm_clock_mhz", figure(slow.sm_clock)},
      {"memory_clock_mhz", figure(slow.memory_clock)},
      {"sm_utilisation", figure(slow.sm_utilisation)},
      {"memory_utilisation", figure(slow.memory_utilisation)},
      {"temperature_c", figure(slow.temperature)},
      {"limiter", limiter_json(slow.limiter)},
      {"performance_state", slow.performance_state ? Json(*slow.performance_state) : Json(nullptr)},
      {"setting", setting == nullptr ? Json(nullptr) : Json(setting)},
      {"sensor_source", gpu.sensor.source},
      {"sensor_update_period_s", figure(gpu.sensor.update_period)},
      {"calibration_band", gpu.sensor.calibration_band},
      {"calibration_floor_w", gpu.sensor.calibration_floor.value()}};
  add_energy(out, gpu);
  return out;
}

Json run_json(const record::RunState& run, std::int64_t monotonic_ns) {
  Json out = Json::parse(record::write_run_state(run));
  out["age_s"] = std::max(0.0, 1e-9 * static_cast<double>(monotonic_ns - run.written_ns));
  return out;
}

Json process_json(const ProcessEntry& process, const PageState& seen) {
  Json gpus = Json::array();
  for (const std::size_t gpu : process.gpus) gpus.push_back(seen.gpus[gpu].identity.id.uuid);
  return {{"pid", process.pid},
          {"user", process.user},
          {"name", process.name.empty() ? Json(nullptr) : Json(process.name)},
          {"gpus", std::move(gpus)},
          {"memory_bytes", process.memory_bytes ? Json(*process.memory_bytes) : Json(nullptr)},
          {"run_id", process.run_id.empty() ? Json(nullptr) : Json(process.run_id)}};
}

Json own_json(const NodeState& node) {
  return {{"up_s", node.up.value()},
          {"cpu_s", node.own.cpu.value()},
          {"memory_bytes", node.own.memory_bytes ? Json(*node.own.memory_bytes) : Json(nullptr)},
          {"driver_calls", node.seen->driver.calls},
          {"driver_s", node.seen->driver.inside.value()},
          {"viewers", node.viewers}};
}

}  // namespace

std::string node_json(const NodeState& node) {
  const PageState& seen = *node.seen;
  Json gpus = Json::array();
  for (std::size_t i = 0; i < seen.gpus.size(); ++i)
    gpus.push_back(
        gpu_json(node, seen.gpus[i], i < seen.guards.size() ? seen.guards[i] : SettingGuard::unknown));
  Json runs = Json::array();
  for (const record::RunState& run : node.runs) runs.push_back(run_json(run, node.monotonic_ns));
  Json processes = Json::array();
  for (const ProcessEntry& process : node.processes) processes.push_back(process_json(process, seen));
  return one_line(Json{{"schema", "rubato.dashboard_node/1"},
                       {"at_s", node.unix_s},
                       {"host", node.host},
                       {"rubato_version", seen.version},
                       {"backend", seen.backend},
                       {"driver_version", seen.driver_version},
                       {"clock_rate", node.clock_rate},
                       {"gpus", std::move(gpus)},
                       {"runs", std::move(runs)},
                       {"processes", std::move(processes)},
                       {"processes_unknown", node.processes_unknown},
                       {"own", own_json(node)}});
}

}  // namespace rubato::exporter
