#include "cli/report/sample_rows.h"

#include <array>
#include <optional>
#include <type_traits>

#include "cli/report/chunk_stream.h"
#include "record/chunk.h"

namespace rubato::cli {
namespace {

using report::Cell;

constexpr std::size_t kFastColumns = 6;
constexpr std::size_t kSlowColumns = 13;

template <class Q>
Cell cell(const std::optional<Q>& value) {
  if (!value) return {};
  if constexpr (std::is_arithmetic_v<Q>)
    return static_cast<double>(*value);
  else
    return value->value();
}

void append(std::vector<Cell>& row, const FastReading& s) {
  for (Cell c : {cell(s.power), cell(s.energy_counter), cell(s.power_average), cell(s.module_power),
                 cell(s.module_energy_counter), cell(s.memory_power)})
    row.push_back(std::move(c));
}

void append(std::vector<Cell>& row, const SlowReading& s) {
  Cell limiter;
  if (s.limiter) limiter = record::limiter_bits(*s.limiter);
  Cell state;
  if (s.performance_state) state = static_cast<std::int64_t>(*s.performance_state);
  for (Cell c : {cell(s.sm_clock), cell(s.memory_clock), cell(s.sm_utilisation), cell(s.memory_utilisation),
                 cell(s.temperature), limiter, cell(s.requested_limit), cell(s.enforced_limit), state,
                 cell(s.limited.power_cap), cell(s.limited.thermal), cell(s.limited.hw_thermal),
                 cell(s.limited.power_brake)})
    row.push_back(std::move(c));
}

struct Gpu {
  std::int64_t index;
  ChunkStream<FastReading> fast;
  ChunkStream<SlowReading> slow;
};

class SampleRows final : public report::Rows {
 public:
  SampleRows(const record::Database& db, const std::vector<SeriesGpu>& gpus, TimePoint begin)
      : begin_(begin) {
    for (const SeriesGpu& gpu : gpus)
      gpus_.push_back({gpu.index,
                       {db, "sample_chunk", "device_id", gpu.row},
                       {db, "sample_chunk", "device_id", gpu.row}});
  }

  [[nodiscard]] std::span<const std::string> columns() const override { return kColumns; }

  [[nodiscard]] Result<bool> next(std::vector<Cell>& row) override {
    Gpu* earliest = nullptr;
    TimePoint at;
    for (Gpu& gpu : gpus_) {
      if (const Status loaded = gpu.fast.load(); !loaded) return fail(loaded.error());
      if (const Status loaded = gpu.slow.load(); !loaded) return fail(loaded.error());
      for (const auto& front : {time_of(gpu.fast.front()), time_of(gpu.slow.front())}) {
        if (!front || (earliest != nullptr && at <= *front)) continue;
        earliest = &gpu;
        at = *front;
      }
    }
    if (earliest == nullptr) return false;
    row.emplace_back(static_cast<double>(at.ns - begin_.ns) / 1e9);
    row.emplace_back(earliest->index);
    take(row, earliest->fast, at, kFastColumns);
    take(row, earliest->slow, at, kSlowColumns);
    return true;
  }

 private:
  template <class Sample>
  static std::optional<TimePoint> time_of(const Sample* sample) {
    return sample == nullptr ? std::nullopt : std::optional(sample->at);
  }
  template <class Sample>
  static void take(std::vector<Cell>& row, ChunkStream<Sample>& samples, TimePoint at, std::size_t columns) {
    if (samples.front() == nullptr || samples.front()->at != at) {
      row.resize(row.size() + columns);
      return;
    }
    append(row, *samples.front());
    samples.pop();
  }

  static const std::array<std::string, 2 + kFastColumns + kSlowColumns> kColumns;
  TimePoint begin_;
  std::vector<Gpu> gpus_;
};

const std::array<std::string, 2 + kFastColumns + kSlowColumns> SampleRows::kColumns = {
    "time_s",
    "gpu",
    "power_w",
    "energy_counter_j",
    "power_average_w",
    "module_power_w",
    "module_energy_counter_j",
    "memory_power_w",
    "sm_clock_mhz",
    "memory_clock_mhz",
    "sm_utilisation_fraction",
    "memory_utilisation_fraction",
    "temperature_c",
    "limiter_bits",
    "requested_limit_w",
    "enforced_limit_w",
    "performance_state",
    "limited_power_cap_s",
    "limited_thermal_s",
    "limited_hw_thermal_s",
    "limited_power_brake_s"};

}  // namespace

std::unique_ptr<report::Rows> sample_rows(const record::Database& db, const std::vector<SeriesGpu>& gpus,
                                          TimePoint begin) {
  return std::make_unique<SampleRows>(db, gpus, begin);
}

}  // namespace rubato::cli
