#include "simgpu/nvml/processes.h"

#include <filesystem>

#include "base/text.h"
#include "simgpu/nvml/client_abi.h"
#include "simgpu/nvml/units.h"
#include "simgpu/nvml/wall_time.h"

namespace rubato::simgpu {
namespace {

using sim::CallId;

void fill(abi::ProcessV1& row, const ComputeProcess& process) {
  row.pid = static_cast<unsigned>(process.pid);
  row.used_memory = process.memory_bytes.value_or(abi::kValueNotAvailable);
}

void fill(abi::Process& row, const ComputeProcess& process) {
  row.pid = static_cast<unsigned>(process.pid);
  row.used_memory = process.memory_bytes.value_or(abi::kValueNotAvailable);
  row.gpu_instance = ~0U;  // no MIG
  row.compute_instance = ~0U;
}

template <class Row>
abi::Return list_processes(const char* function, abi::Device device, unsigned* count, Row* rows) {
  return on_gpu(function, device, {count}, [&](const GpuView& view) {
    const auto processes = view.world.read_processes(view.gpu, view.now);
    if (!processes) return to_return(processes.error());
    const unsigned room = rows == nullptr ? 0 : *count;
    *count = static_cast<unsigned>(processes->size());
    if (*count > room || rows == nullptr) return *count == 0 ? abi::kSuccess : abi::kInsufficientSize;
    for (std::size_t i = 0; i < processes->size(); ++i) fill(rows[i], (*processes)[i]);
    return abi::kSuccess;
  });
}

/// A simulated GPU drives no display and has no MPS server.
abi::Return no_processes(const char* function, abi::Device device, unsigned* count) {
  return on_gpu(function, device, {count}, [&](const GpuView&) {
    *count = 0;
    return abi::kSuccess;
  });
}

}  // namespace

std::string program_of(std::int64_t pid) {
  std::error_code error;
  const auto path = std::filesystem::read_symlink(cat("/proc/", pid, "/exe"), error);
  return error ? std::string() : path.string();
}

RUBATO_EXPORT abi::Return nvmlDeviceGetComputeRunningProcesses(abi::Device device, unsigned* count,
                                                               abi::ProcessV1* rows) {
  return list_processes(__func__, device, count, rows);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetComputeRunningProcesses_v2(abi::Device device, unsigned* count,
                                                                  abi::Process* rows) {
  return list_processes(__func__, device, count, rows);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetComputeRunningProcesses_v3(abi::Device device, unsigned* count,
                                                                  abi::Process* rows) {
  return list_processes(__func__, device, count, rows);
}

RUBATO_EXPORT abi::Return nvmlDeviceGetGraphicsRunningProcesses(abi::Device device, unsigned* count,
                                                                abi::ProcessV1*) {
  return no_processes(__func__, device, count);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetGraphicsRunningProcesses_v2(abi::Device device, unsigned* count,
                                                                   abi::Process*) {
  return no_processes(__func__, device, count);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetGraphicsRunningProcesses_v3(abi::Device device, unsigned* count,
                                                                   abi::Process*) {
  return no_processes(__func__, device, count);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetMPSComputeRunningProcesses(abi::Device device, unsigned* count,
                                                                  abi::ProcessV1*) {
  return no_processes(__func__, device, count);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetMPSComputeRunningProcesses_v2(abi::Device device, unsigned* count,
                                                                     abi::Process*) {
  return no_processes(__func__, device, count);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetMPSComputeRunningProcesses_v3(abi::Device device, unsigned* count,
                                                                     abi::Process*) {
  return no_processes(__func__, device, count);
}

// Where several processes share the GPU, the world does not know whose time was whose.
RUBATO_EXPORT abi::Return nvmlDeviceGetProcessUtilization(abi::Device device,
                                                          client::ProcessUtilization* rows, unsigned* count,
                                                          unsigned long long last_seen_us) {
  return on_gpu(__func__, device, {count}, [&](const GpuView& view) {
    const auto processes = view.world.read_processes(view.gpu, view.now);
    if (!processes) return to_return(processes.error());
    if (processes->size() > 1) return abi::kNotSupported;
    const auto readout = view.read(CallId::read_utilisation);
    if (!readout) return to_return(readout.error());
    const unsigned long long stamp = wall_stamp_us(view.world, readout->at);
    const unsigned room = rows == nullptr ? 0 : *count;
    *count = static_cast<unsigned>(processes->size());
    if (*count == 0 || stamp <= last_seen_us) return abi::kNotFound;
    if (room == 0) return abi::kInsufficientSize;
    *rows = {.pid = static_cast<unsigned>(processes->front().pid),
             .timestamp_us = stamp,
             .sm = percent(readout->sm_utilisation),
             .memory = percent(readout->memory_utilisation),
             .encoder = 0,
             .decoder = 0};
    return abi::kSuccess;
  });
}

RUBATO_EXPORT abi::Return nvmlSystemGetProcessName(unsigned pid, char* text, unsigned size) {
  return in_session(__func__, {text}, [&](sim::SimWorld&) {
    const std::string program = program_of(pid);
    return program.empty() ? abi::kNotFound : copy_text(program, text, size);
  });
}

}  // namespace rubato::simgpu
