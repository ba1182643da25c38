#include "device/nvml/gpu.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "device/nvml/errors.h"
#include "device/nvml/units.h"

namespace rubato::device::nvml {
namespace {

std::vector<Megahertz> to_megahertz(const std::vector<unsigned>& values) {
  std::vector<Megahertz> clocks;
  clocks.reserve(values.size());
  for (const unsigned mhz : values) clocks.emplace_back(mhz);
  return clocks;
}

/// The kernel keeps 15 characters of "nvidia-cuda-mps-server".
bool is_mps_server(const FsRoot& root, std::int64_t pid) {
  const auto name = root.read(cat("/proc/", pid, "/comm"));
  return name && trim(*name) == "nvidia-cuda-mps";
}

}  // namespace

NvmlGpu::NvmlGpu(Handle handle, DeviceCalls calls, Probed probed, SensorFacts sensor)
    : handle_(std::move(handle)),
      calls_(std::move(calls)),
      probed_(std::move(probed)),
      sensor_(std::move(sensor)) {}

Error NvmlGpu::failure(abi::Return code, std::string_view doing) const {
  return from_return(code, cat(describe(handle_.identity), ": cannot ", doing));
}

Result<PowerLimits> NvmlGpu::power_limits() {
  const Functions& nvml = calls_.nvml();
  LimitParts parts;
  if (const abi::Return code = read_fields(calls_, probed_.limits, parts); code != abi::kSuccess)
    return fail(failure(code, "read the power limits"));
  if (!parts.min || !parts.max) {
    unsigned lowest = 0;
    unsigned highest = 0;
    if (const abi::Return code = calls_.call(nvml.limit_range, &lowest, &highest); code != abi::kSuccess)
      return fail(failure(code, "read the power limit range"));
    parts.min = from_milliwatts(lowest);
    parts.max = from_milliwatts(highest);
  }
  struct Rest {
    std::optional<Watts>& part;
    const Function<abi::DeviceNumber>& call;
    std::string_view name;
  };
  for (const Rest& rest : {Rest{parts.requested, nvml.requested_limit, "requested"},
                           Rest{parts.by_default, nvml.default_limit, "default"},
                           Rest{parts.enforced, nvml.enforced_limit, "enforced"}}) {
    if (rest.part) continue;
    const auto limit = calls_.number(rest.call);
    if (!limit.ok()) return fail(failure(limit.code, cat("read the ", rest.name, " power limit")));
    rest.part = from_milliwatts(limit.value);
  }
  return PowerLimits{.min = *parts.min,
                     .max = *parts.max,
                     .default_limit = *parts.by_default,
                     .requested = *parts.requested,
                     .enforced = *parts.enforced};
}

Result<ClockTable> NvmlGpu::supported_clocks() {
  const auto memory = calls_.memory_clocks();
  if (!memory.ok()) return fail(failure(memory.code, "list the memory clocks"));
  ClockTable table{.memory = to_megahertz(memory.value)};
  abi::Return refusal = abi::kNoData;
  for (const unsigned mhz : memory.value) {
    const auto sm = calls_.graphics_clocks_at(mhz);
    if (no_answer(sm.code)) return fail(failure(sm.code, "list the SM clocks"));
    if (!sm.ok()) refusal = sm.code;
    // Some boards name a memory clock and then no SM clock for it: no pair is legal there.
    table.pairs.push_back({Megahertz(mhz), to_megahertz(sm.value)});
    table.sm.insert(table.sm.end(), table.pairs.back().sm.begin(), table.pairs.back().sm.end());
  }
  std::sort(table.sm.begin(), table.sm.end());
  table.sm.erase(std::unique(table.sm.begin(), table.sm.end()), table.sm.end());
  if (table.sm.empty()) return fail(failure(refusal, "list the SM clocks"));
  return table;
}

Result<ApplicationClockReading> NvmlGpu::application_clocks() {
  const Functions& nvml = calls_.nvml();
  std::array<Megahertz, 4> read;
  std::size_t i = 0;
  for (const auto* getter : {&nvml.application_clock, &nvml.default_application_clock}) {
    for (const int kind : {abi::kClockMemory, abi::kClockGraphics}) {
      const auto clock = calls_.number(*getter, kind);
      if (!clock.ok()) return fail(failure(clock.code, "read the application clocks"));
      read.at(i++) = Megahertz(clock.value);
    }
  }
  return ApplicationClockReading{.requested = {.memory = read[0], .sm = read[1]},
                                 .by_default = {.memory = read[2], .sm = read[3]}};
}

Result<std::vector<ComputeProcess>> NvmlGpu::compute_processes() {
  std::vector<ComputeProcess> processes;
  const auto take = [&](const auto& list) {
    for (const auto& row : list.value) {
      const auto same = [&](const ComputeProcess& known) { return known.pid == row.pid; };
      if (std::any_of(processes.begin(), processes.end(), same)) continue;
      auto& added = processes.emplace_back(ComputeProcess{.pid = row.pid});
      if (row.used_memory != abi::kValueNotAvailable) added.memory_bytes = row.used_memory;
    }
    return list.code;
  };
  const Functions& nvml = calls_.nvml();
  // Drivers before 470 know the short rows only.
  const abi::Return code = nvml.processes.exists() ? take(calls_.list<abi::Process>(nvml.processes))
                                                   : take(calls_.list<abi::ProcessV1>(nvml.processes_v1));
  if (code != abi::kSuccess) return fail(failure(code, "list the compute processes"));
  // The clients of a multi-process server stand in a list of their own. Where they are known, the server,
  // which computes for nobody else, is not asked for besides; where they are not, it is all there is to see.
  const auto clients = calls_.list<abi::Process>(nvml.mps_processes);
  (void)take(clients);
  if (!clients.value.empty())
    std::erase_if(processes, [&](const ComputeProcess& p) { return is_mps_server(handle_.root, p.pid); });
  return processes;
}

Result<FeatureVector> NvmlGpu::read_counters() {
  const Capability& can = probed_.capabilities.read_counters;
  if (!can.available)
    return fail(can.needs_right ? ErrorCode::no_permission : ErrorCode::not_supported,
                cat(describe(handle_.identity), " has no counters to read: ", can.why_not), can.hint);
  if (!counters_) counters_.emplace(handle_.library);
  auto read = counters_->read(calls_, *handle_.clock);
  if (read.code == abi::kNoPermission)
    return fail(ErrorCode::no_permission, failure(read.code, "read its counters").what,
                std::string(kCounterRight));
  if (!read.ok()) return fail(failure(read.code, "read its counters"));
  return read.value;
}

}  // namespace rubato::device::nvml
