// Windows of a ZeusMonitor (its log_file): elapsed time and the energy of each GPU. The power-limit optimizer
// writes the same, with the limit at the end of the window's name.
#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "experiment/import/collect.h"
#include "experiment/import/rows.h"

namespace rubato::experiment {
namespace {

constexpr std::array<std::string_view, 3> kColumns = {"start_time", "window_name", "elapsed_time"};
constexpr std::string_view kOptimizer = "__GlobalPowerLimitOptimizer_";

std::vector<std::string> energy_columns(const CsvRows& csv) {
  std::vector<std::string> out;
  for (const std::string& name : csv.columns) {
    if (!name.starts_with("gpu") || !name.ends_with("_energy") || name.size() < 11) continue;
    if (parse_integer(std::string_view(name).substr(3, name.size() - 10))) out.push_back(name);
  }
  return out;
}

struct Window {
  std::string name;
  std::size_t line = 0;
  Seconds time;
  Joules energy;  // mean of the GPUs: limits and curves are of one board
};

Result<std::vector<Window>> windows_of(const ForeignFile& file, std::size_t& gpus) {
  CsvRows csv;
  if (const Status read = read_csv_rows(file.name, file.text, kColumns, csv); !read)
    return fail(read.error());
  const auto columns = energy_columns(csv);
  if (columns.empty())
    return fail(ErrorCode::invalid_argument, cat(place(file.name, 1), ": no column gpuN_energy"),
                "a ZeusMonitor log has one for each GPU it watched");
  gpus = columns.size();
  std::vector<Window> out;
  for (const CsvRow& row : csv.rows) {
    const auto name = row.text("window_name");
    if (!name) return fail(name.error());
    const auto time = row.positive("elapsed_time");
    if (!time) return fail(time.error());
    double energy = 0;
    for (const std::string& column : columns) {
      const auto joules = row.positive(column);
      if (!joules) return fail(joules.error());
      energy += *joules / static_cast<double>(columns.size());
    }
    out.push_back({*name, row.line(), Seconds(*time), Joules(energy)});
  }
  return out;
}

// "A40+resnet50+gpu0,1" is resnet50 on an A40: how Zeus names its own recordings.
struct Named {
  std::string gpu;
  std::string workload;
};

Result<Named> named(const ForeignFile& file, const ImportWishes& wishes) {
  const auto parts = split(stem(file.name), '+');
  Named out;
  if (parts.size() == 3 && parts[2].starts_with("gpu")) out = {parts[0], parts[1]};
  if (wishes.gpu) out.gpu = *wishes.gpu;
  if (wishes.workload) out.workload = *wishes.workload;
  if (out.gpu.empty())
    return fail(ErrorCode::invalid_argument, cat(file.name, ": the file does not say which GPU it is of"),
                "name it: --gpu-name A40");
  return out;
}

SweepRow row_of(const Named& who, const std::string& group, std::size_t gpus, const Window& window) {
  SweepRow row;
  row.gpu = who.gpu;
  row.group = group;
  row.workload = gpus > 1 ? cat(group, "/", gpus, "gpus") : group;
  row.time = window.time;
  row.energy = window.energy;
  row.power = window.energy / window.time;
  return row;
}

void note_energy(const ForeignFile& file, std::size_t gpus, std::string_view unit, Collect& into) {
  into.comment(gpus > 1 ? cat(stem(file.name), ": ", unit, "; energy is the mean of ", gpus, " GPUs")
                        : cat(stem(file.name), ": ", unit));
}

struct LimitInName {
  std::string before;
  std::optional<double> watts;
};

// "train_150" or "train_150W" is train at 150 W; "train" has no limit.
LimitInName limit_in(const std::string& name) {
  const auto cut = name.rfind('_');
  if (cut == std::string::npos || cut == 0) return {name, {}};
  std::string_view tail = std::string_view(name).substr(cut + 1);
  if (tail.ends_with('W') || tail.ends_with('w')) tail.remove_suffix(1);
  const auto watts = parse_number(tail);
  if (!watts) return {name, {}};
  return {name.substr(0, cut), watts};
}

}  // namespace

Status read_zeus_optimizer(const ForeignFile& file, const ImportWishes& wishes, Collect& into) {
  const auto who = named(file, wishes);
  if (!who) return fail(who.error());
  if (who->workload.empty())
    return fail(ErrorCode::invalid_argument,
                cat(file.name, ": the file does not say which workload it is of"),
                "name it: --workload resnet50");
  std::size_t gpus = 1;
  const auto windows = windows_of(file, gpus);
  if (!windows) return fail(windows.error());
  for (const Window& window : *windows) {
    const auto watts = window.name.starts_with(kOptimizer)
                           ? parse_number(window.name.substr(kOptimizer.size()))
                           : std::nullopt;
    if (!watts)
      return fail(ErrorCode::invalid_argument,
                  cat(place(file.name, window.line), ": window '", window.name, "' is not named ", kOptimizer,
                      "WATTS"),
                  "windows of other names: rubato import zeus-monitor");
    const auto limit = plausible_limit(*watts, file.name, window.line);
    if (!limit) return fail(limit.error());
    SweepRow row = row_of(*who, who->workload, gpus, window);
    row.power_limit = *limit;
    if (const Status added = into.add(std::move(row), file.name, window.line); !added) return added;
  }
  note_energy(file, gpus,
              "one profiling window of Zeus's optimizer (40 training steps unless it was told else)", into);
  return {};
}

Status read_zeus_monitor(const ForeignFile& file, const ImportWishes& wishes, Collect& into) {
  const auto who = named(file, wishes);
  if (!who) return fail(who.error());
  std::size_t gpus = 1;
  const auto windows = windows_of(file, gpus);
  if (!windows) return fail(windows.error());
  struct Mean {
    Window window;
    LimitInName name;
    double count = 0;
  };
  std::map<std::string, std::size_t> seen;
  std::vector<Mean> means;
  for (const Window& window : *windows) {
    const auto [at, is_new] = seen.try_emplace(window.name, means.size());
    if (is_new) {
      means.push_back({window, limit_in(window.name), 1});
      continue;
    }
    Mean& mean = means[at->second];
    mean.count += 1;
    mean.window.time += (window.time - mean.window.time) / mean.count;
    mean.window.energy += (window.energy - mean.window.energy) / mean.count;
  }
  for (const Mean& mean : means) {
    SweepRow row = row_of(*who, wishes.workload.value_or(mean.name.before), gpus, mean.window);
    if (mean.name.watts) {
      const auto limit = plausible_limit(*mean.name.watts, file.name, mean.window.line);
      if (!limit) return fail(limit.error());
      row.power_limit = *limit;
    }
    if (const Status added = into.add(std::move(row), file.name, mean.window.line); !added) return added;
  }
  note_energy(file, gpus, "one window; windows of the same name are repeats, and their mean is here", into);
  return {};
}

}  // namespace rubato::experiment
