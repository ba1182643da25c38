#include "record/tables.h"

namespace rubato::record {

DeviceRecord* Tables::device(std::int64_t id) {
  const auto found = device_at.find(id);
  if (found != device_at.end()) return &out.devices[found->second];
  read.corrupt(cat("a row names device ", id, ", which is not in table device"));
  return nullptr;
}

GpuId Tables::gpu(std::int64_t id) {
  const DeviceRecord* found = device(id);
  return found == nullptr ? GpuId{} : found->info.identity.id;
}

std::optional<GpuId> Tables::optional_gpu(Statement& row) {
  const auto id = row.optional_integer();
  if (!id) return std::nullopt;
  return gpu(*id);
}

std::optional<std::size_t> Tables::channel(std::int64_t id) {
  const auto found = channel_at.find(id);
  if (found != channel_at.end()) return found->second;
  read.corrupt(cat("a row names channel ", id, ", which is not in table channel"));
  return std::nullopt;
}

std::optional<EnergyWindow> Tables::energy(Statement& row) {
  if (row.is_null()) {
    for (int i = 0; i < 6; ++i) row.skip();
    return std::nullopt;
  }
  EnergyWindow w;
  w.begin = row.time();
  w.end = row.time();
  w.energy = row.quantity<Joules>();
  w.band_sampling = row.quantity<Joules>();
  w.band_calibration = row.quantity<Joules>();
  const std::int64_t id = row.integer();
  const auto source = sources.find(id);
  if (source != sources.end())
    w.source = source->second;
  else
    read.corrupt(cat("a row names source ", id, ", which is not in table source"));
  return w;
}

}  // namespace rubato::record
