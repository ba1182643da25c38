#include "cli/report/emissions.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "analyse/scope_channels.h"
#include "base/text.h"

namespace rubato::cli {
namespace {

using report::Cell;

constexpr double kJoulesPerKwh = 3.6e6;

/// Energy of one column: absent where any part of it is missing.
struct Part {
  std::optional<double> joules;
  std::optional<double> watts;  // the mean
};

Part gpus_of(const analyse::Summary& summary) {
  if (!summary.total || summary.gpus.empty()) return {};
  Part part{.joules = 0.0, .watts = 0.0};
  for (const auto& gpu : summary.gpus) {
    if (!gpu.energy) return {};
    *part.joules += gpu.energy->energy.value();
    *part.watts += gpu.energy->mean_power().value();
  }
  return part;
}

Part meters_of(const record::RunRecord& run, Scope scope) {
  if (!run.end) return {};
  Part part;
  for (const std::size_t channel : analyse::channels_of(run, scope)) {
    const auto end = std::ranges::find(run.end->channels, channel, &record::ChannelEnd::channel);
    if (end == run.end->channels.end() || !end->energy) return {};
    part.joules = part.joules.value_or(0) + end->energy->energy.value();
    part.watts = part.watts.value_or(0) + end->energy->mean_power().value();
  }
  return part;
}

Cell cell(const std::optional<double>& value, double unit = 1) {
  return value ? Cell(*value / unit) : Cell();
}

Cell cell_if(bool known, double value) {
  return known ? Cell(value) : Cell();
}

class OneRow final : public report::Rows {
 public:
  void set(std::string name, Cell value = {}) {
    columns_.push_back(std::move(name));
    row_.push_back(std::move(value));
  }
  [[nodiscard]] std::span<const std::string> columns() const override { return columns_; }
  [[nodiscard]] Result<bool> next(std::vector<Cell>& row) override {
    if (std::exchange(told_, true)) return false;
    row = row_;
    return true;
  }

 private:
  std::vector<std::string> columns_;
  std::vector<Cell> row_;
  bool told_ = false;
};

std::string models(const analyse::Summary& summary) {
  std::map<std::string, int> counts;
  for (const auto& gpu : summary.gpus) ++counts[gpu.identity.name];
  std::string text;
  for (const auto& [name, count] : counts) text += cat(text.empty() ? "" : ", ", count, " x ", name);
  return text;
}

}  // namespace

Status write_emissions(const record::RunRecord& run, const analyse::Summary& summary,
                       const std::optional<analyse::Co2Factor>& factor, report::Sink& to) {
  const Part gpu = gpus_of(summary);
  const Part cpu = meters_of(run, Scope::cpu_package);
  const Part ram = meters_of(run, Scope::dram);
  double sum = 0;
  bool any = false;
  for (const Part& part : {gpu, cpu, ram}) {
    sum += part.joules.value_or(0);
    any = any || part.joules.has_value();
  }
  // A GPU that could not be read is no zero in a sum either.
  const bool whole = any && (summary.gpus.empty() || gpu.joules.has_value());
  const double seconds = summary.duration.value_or(Seconds(0)).value();
  const double kilograms = factor ? sum / kJoulesPerKwh * factor->grams_per_kwh / 1e3 : 0;
  const bool emitted = whole && factor.has_value();

  OneRow row;
  row.set("timestamp", run.info.started_at);
  row.set("project_name", "rubato");
  row.set("run_id", run.info.run_id);
  row.set("experiment_id");
  row.set("duration", cell_if(summary.duration.has_value(), seconds));
  row.set("emissions", cell_if(emitted, kilograms));
  row.set("emissions_rate", cell_if(emitted && seconds > 0, kilograms / seconds));
  row.set("cpu_power", cell(cpu.watts));
  row.set("gpu_power", cell(gpu.watts));
  row.set("ram_power", cell(ram.watts));
  row.set("cpu_energy", cell(cpu.joules, kJoulesPerKwh));
  row.set("gpu_energy", cell(gpu.joules, kJoulesPerKwh));
  row.set("ram_energy", cell(ram.joules, kJoulesPerKwh));
  row.set("energy_consumed", cell_if(whole, sum / kJoulesPerKwh));
  for (const char* unknown : {"water_consumed", "country_name", "country_iso_code"}) row.set(unknown);
  row.set("region", factor && !factor->region.empty() ? Cell(factor->region) : Cell());
  for (const char* unknown : {"cloud_provider", "cloud_region"}) row.set(unknown);
  row.set("os", "Linux");
  for (const char* unknown : {"python_version", "codecarbon_version", "cpu_count", "cpu_model"})
    row.set(unknown);
  row.set("gpu_count", static_cast<std::int64_t>(summary.gpus.size()));
  row.set("gpu_model", models(summary));
  for (const char* unknown : {"longitude", "latitude", "ram_total_size"}) row.set(unknown);
  // What was counted: the job's own GPUs, not the machine's.
  row.set("tracking_mode", "process");
  for (const char* unknown :
       {"cpu_utilization_percent", "gpu_utilization_percent", "ram_utilization_percent", "ram_used_gb"})
    row.set(unknown);
  row.set("on_cloud");
  row.set("pue", 1.0);
  row.set("wue");
  return report::write_csv(row, to);
}

}  // namespace rubato::cli
