// nvidia-smi asks for a table of internal functions before it prints anything. The layout is not documented;
// what stands here was found by watching nvidia-smi 535: it needs the size, and the slot that turns an index
// into a handle.
#include <array>
#include <cstdint>

#include "simgpu/nvml/entry.h"

namespace rubato::simgpu {
namespace {

constexpr std::size_t kSlots = 256;
constexpr std::size_t kHandleByIndexSlot = 81;

abi::Return answer_nothing() {
  return abi::kSuccess;
}

abi::Return handle_by_index(unsigned index, abi::Device* device) {
  return in_session("export_table_handle_by_index", {device}, [&](sim::SimWorld& here) {
    if (index >= here.gpu_count()) return abi::kInvalidArgument;
    *device = handle_of(index);
    return abi::kSuccess;
  });
}

using Table = std::array<const void*, kSlots>;

Table make_table() {
  Table table;
  table.fill(reinterpret_cast<const void*>(&answer_nothing));
  table[0] = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(sizeof(Table)));
  table[kHandleByIndexSlot] = reinterpret_cast<const void*>(&handle_by_index);
  return table;
}

}  // namespace

RUBATO_EXPORT abi::Return nvmlInternalGetExportTable(const void** table, const void*) {
  static const Table kTable = make_table();
  if (table == nullptr) return trace(__func__, abi::kInvalidArgument);
  *table = kTable.data();
  return trace(__func__, abi::kSuccess);
}

}  // namespace rubato::simgpu
