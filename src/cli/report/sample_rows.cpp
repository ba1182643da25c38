#include "cli/report/sample_rows.h"

#include <array>
#include <optional>
#include <type_traits>

#include "base/text.h"
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

/// One kind of sample of one GPU, a chunk at a time.
template <class Sample>
class Samples {
 public:
  Samples(const record::Database& db, std::int64_t device)
      : db_(&db),
        // Chunks of one GPU and kind are added in order of time, so row order needs no sorting.
        chunks_(cat("SELECT layout,begin_ns,samples,data FROM sample_chunk WHERE device_id=", device,
                    " AND kind='", std::is_same_v<Sample, FastReading> ? "fast" : "slow",
                    "' ORDER BY rowid")) {}

  Status load() {
    while (next_ == samples_.size() && !ended_) {
      if (!chunks_.next(*db_)) {
        ended_ = true;
        if (chunks_.failed()) return fail(db_->error("cannot read run record"));
        break;
      }
      record::ChunkHead head;
      head.layout = chunks_.integer();
      head.begin = chunks_.time();
      head.samples = static_cast<std::size_t>(chunks_.integer());
      const std::string blob = chunks_.text();
      Result<std::vector<Sample>> decoded = [&] {
        if constexpr (std::is_same_v<Sample, FastReading>)
          return record::decode_fast_chunk(head, blob);
        else
          return record::decode_slow_chunk(head, blob);
      }();
      if (!decoded)
        return fail(ErrorCode::corrupt,
                    cat("cannot read run record ", db_->file().string(), ": ", decoded.error().what),
                    "the file is left as it is");
      samples_ = std::move(*decoded);
      next_ = 0;
    }
    return {};
  }
  [[nodiscard]] const Sample* front() const { return next_ < samples_.size() ? &samples_[next_] : nullptr; }
  void pop() { ++next_; }

 private:
  const record::Database* db_;
  record::Statement chunks_;
  std::vector<Sample> samples_;
  std::size_t next_ = 0;
  bool ended_ = false;
};

struct Gpu {
  std::int64_t index;
  Samples<FastReading> fast;
  Samples<SlowReading> slow;
};

class SampleRows final : public report::Rows {
 public:
  SampleRows(const record::Database& db, const std::vector<SeriesGpu>& gpus, TimePoint begin)
      : begin_(begin) {
    for (const SeriesGpu& gpu : gpus) gpus_.push_back({gpu.index, {db, gpu.row}, {db, gpu.row}});
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
  static void take(std::vector<Cell>& row, Samples<Sample>& samples, TimePoint at, std::size_t columns) {
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
