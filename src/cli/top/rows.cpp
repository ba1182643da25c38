#include "cli/top/rows.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/format.h"
#include "wire/connect.h"

namespace rubato::cli::top {
namespace {

using report::fixed;

// A run writes every second; the machine may be busy.
constexpr Seconds kSilent{5};
constexpr const char* kMissing = "-";

std::string watts(const std::optional<Watts>& value, int digits) {
  if (!value) return kMissing;
  return cat(fixed(value->value(), value->value() < 999.95 ? digits : 0), " W");
}

template <class Q>
std::string whole(const std::optional<Q>& value, std::string_view unit = {}) {
  return value ? cat(fixed(value->value(), 0), unit) : std::string(kMissing);
}

std::string share(const std::optional<double>& fraction) {
  return fraction ? cat(fixed(100 * *fraction, 0), " %") : std::string(kMissing);
}

/// "12.3 % ±0.4"
std::string with_interval(const record::RunStateShare& share) {
  return cat(fixed(100 * share.value, 1), " % ±",
             fixed(100 * share.half_width, share.half_width < 0.001 ? 2 : 1));
}

std::string bytes(const std::optional<std::uint64_t>& value) {
  constexpr double kMebi = 1024.0 * 1024.0;
  if (!value) return kMissing;
  const double mebi = static_cast<double>(*value) / kMebi;
  return mebi < 1000 ? cat(fixed(mebi, 0), " MiB") : cat(fixed(mebi / 1024, 1), " GiB");
}

/// The maker's name says nothing where all are of one.
std::string board_name(const std::string& name) {
  constexpr std::string_view kMaker = "NVIDIA ";
  return name.starts_with(kMaker) ? name.substr(kMaker.size()) : name;
}

std::string iteration_of(const record::RunState& run) {
  if (!run.iteration || !run.iteration->periodic || !run.iteration->period) return kMissing;
  return report::text_of(*run.iteration->period);
}

Colour colour_of(const SlowReading& reading) {
  if (!reading.limiter) return Colour::none;
  if (reading.limiter->thermal || reading.limiter->hardware) return Colour::red;
  return reading.limiter->power_cap ? Colour::yellow : Colour::none;
}

const RunNow* run_on(const GpuState& gpu, const State& state) {
  for (const RunNow& run : state.runs)
    for (const record::RunStateGpu& one : run.state.gpus)
      if (one.uuid == gpu.identity.id.uuid && one.used_by_job.value_or(false)) return &run;
  return nullptr;
}

}  // namespace

const std::vector<Column>& gpu_columns() {
  static const std::vector<Column> columns = {{.head = "GPU", .least = 3, .right = true},
                                              {.head = "NAME", .least = 9, .most = 26},
                                              {.head = "POWER", .least = 7, .right = true},
                                              {.head = "ASKED", .least = 6, .right = true, .leaves = 3},
                                              {.head = "ENFORCED", .least = 8, .right = true, .leaves = 7},
                                              {.head = "SM MHz", .least = 6, .right = true, .leaves = 4},
                                              {.head = "MEM MHz", .least = 7, .right = true, .leaves = 8},
                                              {.head = "BUSY", .least = 5, .right = true, .leaves = 2},
                                              {.head = "TEMP", .least = 5, .right = true, .leaves = 5},
                                              {.head = "LIMITED BY", .least = 11, .most = 40, .leaves = 6},
                                              {.head = "RUN", .least = 12, .most = 40, .leaves = 9}};
  return columns;
}

Row gpu_row(const GpuState& gpu, const State& state) {
  const SlowReading& slow = gpu.slow;
  const bool silent = !gpu.silent.empty();
  const RunNow* run = run_on(gpu, state);
  const bool lowered =
      slow.enforced_limit && slow.requested_limit && *slow.enforced_limit < *slow.requested_limit;
  return {{std::to_string(gpu.identity.index)},
          {board_name(gpu.identity.name)},
          {watts(gpu.power, 1), {.bold = true}},
          {watts(slow.requested_limit, 0)},
          {watts(slow.enforced_limit, 0), {.colour = lowered ? Colour::yellow : Colour::none}},
          {whole(slow.sm_clock)},
          {whole(slow.memory_clock)},
          {share(slow.sm_utilisation)},
          {whole(slow.temperature, " C")},
          {silent ? "no answer" : limited_by(slow), {.colour = silent ? Colour::red : colour_of(slow)}},
          {run == nullptr ? kMissing : short_name(run->state.command)}};
}

std::vector<std::string> gpu_details(const GpuState& gpu) {
  std::vector<std::string> out;
  if (!gpu.silent.empty()) out.push_back(cat("no answer: ", gpu.silent));
  std::string facts = cat(gpu.identity.name, ", ", gpu.identity.id.uuid, ", PCI ", gpu.identity.pci_bus_id);
  if (gpu.slow.memory_utilisation) facts += cat("; memory busy ", share(gpu.slow.memory_utilisation));
  if (gpu.slow.performance_state) facts += cat("; state P", *gpu.slow.performance_state);
  if (gpu.limits)
    facts += cat("; limits ", fixed(gpu.limits->min.value(), 0), " to ", watts(gpu.limits->max, 0), ", ",
                 watts(gpu.limits->default_limit, 0), " by default");
  out.push_back(cat(facts, "; ", name_of(gpu.kind)));
  if (gpu.managed) {
    const std::string job =
        gpu.managed->slurm_job ? cat(", given to Slurm's job ", *gpu.managed->slurm_job) : std::string();
    out.push_back(cat("rubatod ", gpu.managed->mode == wire::kObserve ? "observes" : "manages",
                      " it: ", gpu.managed->state, job));
  }
  return out;
}

const std::vector<Column>& run_columns() {
  static const std::vector<Column> columns = {{.head = "RUN", .least = 8, .most = 24},
                                              {.head = "GPU", .least = 3, .most = 5, .leaves = 5},
                                              {.head = "ITERATION", .least = 9, .right = true, .leaves = 4},
                                              {.head = "DONE", .least = 6, .right = true, .leaves = 6},
                                              {.head = "SAVED", .least = 12, .right = true, .leaves = 1},
                                              {.head = "SLOWER", .least = 12, .right = true, .leaves = 3},
                                              {.head = "NOW", .least = 18, .most = 80}};
  return columns;
}

Row run_row(const RunNow& run, const State& state) {
  const record::RunState& r = run.state;
  TextCell saved{kMissing};
  TextCell slower{kMissing};
  if (r.saving) {
    const bool sure = std::abs(r.saving->saved.value) > r.saving->saved.half_width;
    const Colour colour = !sure ? Colour::none : r.saving->saved.value > 0 ? Colour::green : Colour::red;
    saved = {with_interval(r.saving->saved), {.colour = colour}};
    slower = {with_interval(r.saving->slower)};
  }
  const bool silent = run.age > kSilent;
  return {{short_name(r.command.empty() ? std::vector<std::string>{r.mode} : r.command)},
          {gpus_of(r, state)},
          {iteration_of(r)},
          {std::to_string(r.iterations)},
          saved,
          slower,
          {silent ? cat("silent for ", report::text_of(run.age)) : doing(r),
           {.colour = silent ? Colour::yellow : Colour::none}}};
}

std::vector<std::string> run_details(const RunNow& run) {
  const record::RunState& r = run.state;
  std::vector<std::string> out;
  if (!r.why.empty()) out.push_back(cat("why: ", r.why));
  for (const record::RunStateGpu& gpu : r.gpus)
    if (gpu.changed_by_someone_else)
      out.push_back(cat(gpu.name, ": its setting was changed by someone else, and is theirs"));
  std::string facts = cat(r.mode, " for ", report::text_of(r.running));
  std::optional<Joules> energy;
  Kind kind = Kind::measured;
  for (const record::RunStateGpu& gpu : r.gpus) {
    if (!gpu.energy || !gpu.used_by_job.value_or(true)) continue;
    energy = energy.value_or(Joules(0)) + *gpu.energy;
    kind = std::max(kind, gpu.kind);
  }
  if (energy) facts += cat(", ", report::text_of(*energy), " (", name_of(kind), ")");
  facts += cat(", strategy ", r.strategy, ", process ", r.pid);
  if (r.iteration && r.iteration->periodic)
    facts += cat(", iterations from ", name_of(r.iteration->source), ", ",
                 fixed(std::floor(100 * r.iteration->confidence), 0), " % sure");
  out.push_back(facts);
  if (!r.command.empty()) out.push_back(report::command_line(r.command));
  return out;
}

const std::vector<Column>& process_columns() {
  static const std::vector<Column> columns = {{.head = "PID", .least = 7, .right = true},
                                              {.head = "USER", .least = 8, .most = 12, .leaves = 3},
                                              {.head = "GPU", .least = 3, .most = 5, .leaves = 1},
                                              {.head = "MEMORY", .least = 9, .right = true, .leaves = 2},
                                              {.head = "RUN", .least = 10, .most = 14, .leaves = 4},
                                              {.head = "COMMAND", .least = 12, .most = 400}};
  return columns;
}

Row process_row(const ProcessState& process, const State& state) {
  std::string gpus;
  for (const std::size_t gpu : process.gpus)
    gpus += cat(gpus.empty() ? "" : ",", state.gpus[gpu].identity.index);
  std::string run = kMissing;
  for (const RunNow& one : state.runs)
    if (one.state.run_id == process.run_id) run = short_name(one.state.command);
  return {{std::to_string(process.pid)},
          {process.user.empty() ? kMissing : process.user},
          {gpus},
          {bytes(process.memory_bytes)},
          {run},
          {process.command.empty() ? "cannot be seen from here" : process.command,
           {.faint = process.command.empty()}}};
}

}  // namespace rubato::cli::top
