#include <algorithm>

#include "exporter/json_pieces.h"
#include "exporter/run_book.h"

namespace rubato::exporter {
namespace {

Json estimate_json(const analyse::Estimate& e) {
  return {{"fraction", figure(e.value)},
          {"low_90", e.interval ? figure(e.interval->low) : Json(nullptr)},
          {"high_90", e.interval ? figure(e.interval->high) : Json(nullptr)}};
}

Json exit_json(const record::RunSummary& run) {
  Json out;
  if (run.exit_code) out["code"] = *run.exit_code;
  if (run.exit_signal) out["signal"] = *run.exit_signal;
  return out;
}

Json job_gpu_json(const JobGpu& gpu) {
  return {{"uuid", gpu.identity.id.uuid},
          {"name", gpu.identity.name},
          {"index", gpu.identity.index},
          {"quality", name_of(gpu.kind)},
          {"energy_j", figure(gpu.energy)},
          {"power_limit_found_w", figure(gpu.found_limit)},
          {"requested", setting_json(gpu.requested)},
          {"restoration", gpu.restoration ? Json(name_of(*gpu.restoration)) : Json(nullptr)}};
}

Json savings_json(const std::optional<analyse::Savings>& savings) {
  if (!savings) return nullptr;
  return {{"kind", name_of(savings->kind)},
          {"energy_saved_j", savings->run_saved.value()},
          {"energy_saved", estimate_json(savings->run_energy)},
          {"slowdown", estimate_json(savings->run_slowdown)}};
}

Json booked_json(const BookedRun& booked, bool running) {
  Json gpus = Json::array();
  for (const JobGpu& gpu : booked.gpus) gpus.push_back(job_gpu_json(gpu));
  const record::RunSummary& run = booked.run;
  return {{"run_id", run.run_id},
          {"mode", run.mode},
          {"command", run.command},
          {"started_at", run.started_at},
          {"running", running},
          {"complete", run.duration.has_value()},
          {"duration_s", figure(run.duration)},
          {"exit_status", exit_json(run)},
          {"gpus", std::move(gpus)},
          {"energy_j", figure(booked.energy)},
          {"quality", booked.kind ? Json(name_of(*booked.kind)) : Json(nullptr)},
          {"whole_run", savings_json(booked.savings)}};
}

}  // namespace

std::string runs_json(const RunBookState& book, const std::vector<std::string>& running) {
  Json runs = Json::array();
  for (const BookedRun& booked : book.runs)
    runs.push_back(
        booked_json(booked, !booked.run.duration && std::ranges::count(running, booked.run.run_id) > 0));
  return one_line(Json{{"schema", "rubato.dashboard_runs/1"},
                       {"runs", std::move(runs)},
                       {"left_out", book.left_out},
                       {"unreadable", book.unreadable}});
}

}  // namespace rubato::exporter
