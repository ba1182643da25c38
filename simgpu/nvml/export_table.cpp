// nvidia-smi asks for a table of internal functions before it prints anything. The layout is not documented;
// what stands here was found by watching nvidia-smi 535: it needs the size, the slot that turns an index into
// a handle, and lists processes through three more (rows as in NVIDIA/k8s-test-infra, pkg/gpu/mocknvml).
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "simgpu/nvml/entry.h"
#include "simgpu/nvml/processes.h"
#include "simgpu/nvml/units.h"

namespace rubato::simgpu {
namespace {

constexpr std::size_t kSlots = 256;
constexpr std::size_t kAfterEachLineSlot = 26;   // what it is for nobody knows; it must succeed
constexpr std::size_t kFullySupportedSlot = 72;  // asked before dmon and pmon
constexpr std::size_t kHandleByIndexSlot = 81;
constexpr std::size_t kEnforcedLimitSlot = 108;  // of --query-gpu=enforced.power.limit
constexpr std::size_t kComputeProcessSlot = 213;
constexpr std::size_t kGraphicsProcessSlot = 214;
constexpr std::size_t kMpsProcessSlot = 215;

using Table = std::array<const void*, kSlots>;
using Slot = abi::Return (*)(const void*, const void*, const void*);

/// A success would have nvidia-smi print what it finds in its own uninitialised output.
template <std::size_t N>
abi::Return answer_nothing(const void*, const void*, const void*) {
  static const std::string kName = cat("export_table_", N);
  return trace(kName.c_str(), N == kAfterEachLineSlot ? abi::kSuccess : abi::kNotSupported);
}

abi::Return fully_supported(abi::Device device, unsigned* yes) {
  return on_gpu("export_table_fully_supported", device, {yes}, [&](const GpuView&) {
    *yes = 1;
    return abi::kSuccess;
  });
}

abi::Return enforced_limit(abi::Device device, unsigned* mw) {
  return read_into("export_table_enforced_limit", device, sim::CallId::read_power_limits, mw,
                   [](const GpuView&, const sim::Readout& r, unsigned* out) {
                     *out = milliwatts(r.limits.enforced);
                     return abi::kSuccess;
                   });
}

abi::Return handle_by_index(unsigned index, abi::Device* device) {
  return in_session("export_table_handle_by_index", {device}, [&](sim::SimWorld& here) {
    if (index >= here.gpu_count()) return abi::kInvalidArgument;
    *device = handle_of(index);
    return abi::kSuccess;
  });
}

struct ProcessRow {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
  unsigned long long protected_memory;
  char program[4096];
};
static_assert(sizeof(ProcessRow) == 4128);

abi::Return compute_processes(abi::Device device, unsigned* count, ProcessRow* rows) {
  return on_gpu("export_table_compute_processes", device, {count}, [&](const GpuView& view) {
    const auto processes = view.world.read_processes(view.gpu, view.now);
    if (!processes) return to_return(processes.error());
    const unsigned room = rows == nullptr ? 0 : *count;
    *count = static_cast<unsigned>(processes->size());
    if (*count > room || rows == nullptr) return *count == 0 ? abi::kSuccess : abi::kInsufficientSize;
    for (const ComputeProcess& process : *processes) {
      *rows = {};
      rows->pid = static_cast<unsigned>(process.pid);
      rows->used_memory = process.memory_bytes.value_or(abi::kValueNotAvailable);
      rows->gpu_instance = ~0U;
      rows->compute_instance = ~0U;
      const std::string program = program_of(process.pid);
      std::memcpy(rows->program, program.data(), std::min(program.size(), sizeof(rows->program) - 1));
      ++rows;
    }
    return abi::kSuccess;
  });
}

abi::Return no_processes(abi::Device device, unsigned* count, ProcessRow*) {
  return on_gpu("export_table_no_processes", device, {count}, [&](const GpuView&) {
    *count = 0;
    return abi::kSuccess;
  });
}

template <std::size_t... N>
Table make_table(std::index_sequence<N...>) {
  Table table{reinterpret_cast<const void*>(static_cast<Slot>(&answer_nothing<N>))...};
  // The table's first word is its size, where others are functions.
  table[0] = reinterpret_cast<const void*>(  // NOLINT(performance-no-int-to-ptr)
      static_cast<std::uintptr_t>(sizeof(Table)));
  table[kHandleByIndexSlot] = reinterpret_cast<const void*>(&handle_by_index);
  table[kEnforcedLimitSlot] = reinterpret_cast<const void*>(&enforced_limit);
  table[kFullySupportedSlot] = reinterpret_cast<const void*>(&fully_supported);
  table[kComputeProcessSlot] = reinterpret_cast<const void*>(&compute_processes);
  table[kGraphicsProcessSlot] = reinterpret_cast<const void*>(&no_processes);
  table[kMpsProcessSlot] = reinterpret_cast<const void*>(&no_processes);
  return table;
}

}  // namespace

RUBATO_EXPORT abi::Return nvmlInternalGetExportTable(const void** table, const void*) {
  static const Table kTable = make_table(std::make_index_sequence<kSlots>{});
  if (table == nullptr) return trace(__func__, abi::kInvalidArgument);
  *table = kTable.data();
  return trace(__func__, abi::kSuccess);
}

}  // namespace rubato::simgpu
