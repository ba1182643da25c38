// One run record while it is read: its version, what rows refer to, and the parts in which the tables are
// taken.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "record/reader.h"
#include "record/reading.h"

namespace rubato::record {

inline constexpr std::string_view kEnergyColumns =
    "energy_begin_ns,energy_end_ns,energy_j,band_sampling_j,band_calibration_j,source_id";

struct Tables {
  Tables(const Database& db, std::int64_t schema_version, RunRecord& record)
      : read(db), version(schema_version), out(record) {}

  Reading read;
  std::int64_t version;
  RunRecord& out;
  std::map<std::int64_t, std::size_t> device_at;  // row → place in out.devices
  std::map<std::int64_t, std::size_t> channel_at;
  std::map<std::int64_t, Source> sources;

  // A row that names what is not there makes the record corrupt.
  [[nodiscard]] DeviceRecord* device(std::int64_t id);
  [[nodiscard]] GpuId gpu(std::int64_t id);
  [[nodiscard]] std::optional<GpuId> optional_gpu(Statement& row);
  [[nodiscard]] std::optional<std::size_t> channel(std::int64_t id);
  [[nodiscard]] std::optional<EnergyWindow> energy(Statement& row);  // the columns above
};

// In this order: each refers to what those before it have read.
void read_devices(Tables& tables);  // with channels and the sources of figures
void read_samples(Tables& tables);
void read_progress(Tables& tables);
void read_iterations(Tables& tables);
void read_actions(Tables& tables);
void read_expected(Tables& tables);
void read_ends(Tables& tables);

}  // namespace rubato::record
