#include "report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/fs_root.h"
#include "base/json_figures.h"
#include "base/log.h"
#include "base/text.h"
#include "report_folder.h"

namespace rubato::slurm {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double kMostJoules = 1e15;

std::optional<double> joules(const Json& object, const char* key) {
  if (!object.contains(key) || object.at(key).is_null()) return std::nullopt;
  return number_at(object, key, 0, kMostJoules);
}

/// Both bands at their worst: a sum of reports is to claim no more than they do.
std::optional<double> band(const Json& gpu) {
  const auto sampling = joules(gpu, "energy_band_sampling_j");
  const auto calibration = joules(gpu, "energy_band_calibration_j");
  if (!sampling || !calibration) return std::nullopt;
  return *sampling + *calibration;
}

std::string percent(const Json& estimate) {
  return cat(number(100 * number_at(estimate, "fraction", -1e6, 1e6), 2), " %");
}

std::string saving(const Json& run) {
  if (!run.contains("savings") || !run.at("savings").is_object()) return {};
  const Json& whole = run.at("savings").at("whole_run");
  return cat(percent(whole.at("energy_saved")), " less GPU energy and ", percent(whole.at("slowdown")),
             " more time than at the setting that was found, whole run");
}

TaskReport read(const Json& run, const std::string& node) {
  TaskReport task{
      run.at("run_id").get<std::string>(), number_at(run, "duration_s", 0, 1e10), {}, saving(run)};
  for (const Json& gpu : run.at("gpus"))
    task.gpus.push_back({node, gpu.at("uuid").get<std::string>(), gpu.at("name").get<std::string>(),
                         whole_of<std::int64_t>(gpu.at("index")), gpu.at("quality").get<std::string>(),
                         joules(gpu, "energy_j"), band(gpu), gpu.at("restoration").get<std::string>()});
  return task;
}

std::string energy_in_words(double joules_) {
  return joules_ >= 1e6   ? cat(number(joules_ / 1e6, 3), " MJ")
         : joules_ >= 1e4 ? cat(number(joules_ / 1e3, 2), " kJ")
                          : cat(number(joules_, 1), " J");
}

std::string gpu_line(const GpuOfTask& gpu) {
  std::string line = cat("  ", gpu.node, "  GPU ", gpu.index, " ", gpu.name, "  ");
  line += gpu.energy_j ? energy_in_words(*gpu.energy_j) : std::string("no energy");
  if (gpu.energy_j && gpu.band_j) line += cat(" ± ", energy_in_words(*gpu.band_j));
  line += cat(", ", gpu.quality);
  if (gpu.restoration == "restored") line += "; put back as found";
  if (gpu.restoration == "failed") line += "; NOT PUT BACK: rubato doctor";
  if (gpu.restoration == "left_alone") line += "; changed by somebody else and left so";
  return line + "\n";
}

}  // namespace

Result<TaskReport> read_task_report(const std::string& text, const std::string& node,
                                    const std::string& file) {
  const auto corrupt = [&](std::string_view why) {
    return fail(ErrorCode::corrupt, cat(file, " is no report of rubato's: ", why));
  };
  try {
    return read(Json::parse(text), node);
  } catch (const BadFigure& bad) {
    return corrupt(bad.what);
  } catch (const Json::exception& error) {
    return corrupt(error.what());
  }
}

std::string step_report(const std::string& step, std::vector<TaskReport> tasks, std::size_t unreadable) {
  std::sort(tasks.begin(), tasks.end(),
            [](const TaskReport& a, const TaskReport& b) { return a.duration_s > b.duration_s; });
  std::map<std::pair<std::string, std::string>, const GpuOfTask*> gpus;  // by node and UUID
  for (const TaskReport& task : tasks)
    for (const GpuOfTask& gpu : task.gpus) gpus.try_emplace({gpu.node, gpu.uuid}, &gpu);
  double sum = 0;
  double band_sum = 0;
  std::size_t without = 0;
  std::string qualities;
  for (const auto& [key, gpu] : gpus) {
    if (!gpu->energy_j) ++without;
    sum += gpu->energy_j.value_or(0);
    band_sum += gpu->band_j.value_or(0);
    if (qualities.find(gpu->quality) == std::string::npos)
      qualities += cat(qualities.empty() ? "" : ", ", gpu->quality);
  }
  std::string report = cat("rubato, Slurm step ", step, ": ");
  if (gpus.empty()) return report + "no GPU was measured\n";
  report += cat(gpus.size(), gpus.size() == 1 ? " GPU, " : " GPUs, ", energy_in_words(sum), " ± ",
                energy_in_words(band_sum), " (", qualities, ")");
  if (without > 0) report += cat(", ", without, " of them without a figure");
  report += "\n";
  for (const auto& [key, gpu] : gpus) report += gpu_line(*gpu);
  for (const TaskReport& task : tasks)
    report +=
        cat("  run ", task.run_id, ": ", task.saving.empty() ? "nothing to compare" : task.saving, "\n");
  if (unreadable > 0) report += cat("  ", unreadable, " reports of tasks cannot be read\n");
  return report + "  more: rubato show RUN, rubato export RUN --format csv\n";
}

int report_step(const std::string& step) {
  const bool plain = !step.empty() && step.find_first_not_of("0123456789.") == std::string::npos;
  const fs::path folder = plain ? report_folder(step) : fs::path();
  std::error_code error;
  // A step whose tasks had no GPU wrote none.
  if (folder.empty() || !fs::is_directory(folder, error)) return 0;
  std::vector<TaskReport> tasks;
  std::size_t unreadable = 0;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const auto text = read_small_file(entry.path());
    auto task = text ? read_task_report(*text, name.substr(0, name.find('.')), entry.path().string())
                     : Result<TaskReport>(fail(text.error()));
    if (task)
      tasks.push_back(std::move(*task));
    else
      ++unreadable;
    if (!task) log::warning(task.error());
  }
  const std::string report = step_report(step, std::move(tasks), unreadable);
  std::fputs(report.c_str(), stderr);
  fs::remove_all(folder, error);
  return 0;
}

}  // namespace rubato::slurm
