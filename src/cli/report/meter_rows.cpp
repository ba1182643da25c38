#include "cli/report/meter_rows.h"

#include <map>
#include <optional>
#include <vector>

#include "cli/report/chunk_stream.h"
#include "record/kernel_chunk.h"

namespace rubato::cli {
namespace {

using report::Cell;

Cell seconds_since(TimePoint begin, TimePoint at) {
  return static_cast<double>(at.ns - begin.ns) / 1e9;
}

template <class Q>
Cell cell(const std::optional<Q>& value) {
  return value ? Cell(value->value()) : Cell();
}

class MeterRows final : public report::Rows {
 public:
  MeterRows(const record::Database& db, TimePoint begin) : begin_(begin) {
    record::Statement channels("SELECT id,meter,name FROM channel ORDER BY id");
    while (channels.next(db)) {
      const std::int64_t id = channels.integer();
      std::string meter = channels.text();
      lanes_.push_back({std::move(meter), channels.text(), {db, "channel_chunk", "channel_id", id}});
    }
    if (channels.failed()) failure_ = db.error("cannot read run record");
  }
  [[nodiscard]] std::span<const std::string> columns() const override { return kMeterColumns; }

  [[nodiscard]] Result<bool> next(std::vector<Cell>& row) override {
    if (failure_) return fail(*failure_);
    Lane* earliest = nullptr;
    for (Lane& lane : lanes_) {
      if (const Status loaded = lane.readings.load(); !loaded) return fail(loaded.error());
      const FastReading* front = lane.readings.front();
      if (front != nullptr && (earliest == nullptr || front->at < earliest->readings.front()->at))
        earliest = &lane;
    }
    if (earliest == nullptr) return false;
    const FastReading& reading = *earliest->readings.front();
    row = {seconds_since(begin_, reading.at), earliest->meter, earliest->channel, cell(reading.power),
           cell(reading.energy_counter)};
    earliest->readings.pop();
    return true;
  }

 private:
  struct Lane {
    std::string meter;
    std::string channel;
    ChunkStream<FastReading> readings;
  };
  TimePoint begin_;
  std::vector<Lane> lanes_;
  std::optional<Error> failure_;
};

class KernelRows final : public report::Rows {
 public:
  KernelRows(const record::Database& db, TimePoint begin)
      : db_(db),
        begin_(begin),
        chunks_("SELECT layout,begin_ns,kernels,data FROM kernel_chunk ORDER BY rowid") {
    record::Statement names("SELECT id,text FROM name");
    while (names.next(db)) {
      const auto id = static_cast<std::uint64_t>(names.integer());
      names_[id] = names.text();
    }
    if (names.failed()) failure_ = db.error("cannot read run record");
  }
  [[nodiscard]] std::span<const std::string> columns() const override { return kKernelColumns; }

  [[nodiscard]] Result<bool> next(std::vector<Cell>& row) override {
    if (failure_) return fail(*failure_);
    while (next_ == kernels_.size()) {
      if (!chunks_.next(db_)) {
        if (chunks_.failed()) return fail(db_.error("cannot read run record"));
        return false;
      }
      if (const Status loaded = load(); !loaded) return fail(loaded.error());
    }
    const KernelRecord& k = kernels_[next_++];
    row = {
        seconds_since(begin_, k.begin), seconds_since(begin_, k.end), name(k.name_hash), std::int64_t{k.pid},
        std::int64_t{k.stream},         std::int64_t{k.graph}};
    for (const auto& size : {k.grid, k.block})
      for (const std::uint32_t side : size) row.emplace_back(std::int64_t{side});
    row.push_back(k.layer == 0 ? Cell() : name(k.layer));
    row.emplace_back(static_cast<std::int64_t>(k.lost_before));
    return true;
  }

 private:
  Status load() {
    const std::int64_t layout = chunks_.integer();
    const TimePoint begin = chunks_.time();
    const auto count = static_cast<std::size_t>(chunks_.integer());
    auto decoded = record::decode_kernels(layout, begin, count, chunks_.text());
    if (!decoded)
      return fail(ErrorCode::corrupt,
                  cat("cannot read run record ", db_.file().string(), ": ", decoded.error().what),
                  "the file is left as it is");
    kernels_ = std::move(*decoded);
    next_ = 0;
    return {};
  }
  [[nodiscard]] Cell name(std::uint64_t hash) const {
    const auto found = names_.find(hash);
    return found == names_.end() ? Cell() : Cell(found->second);
  }

  const record::Database& db_;
  TimePoint begin_;
  record::Statement chunks_;
  std::map<std::uint64_t, std::string> names_;
  std::vector<KernelRecord> kernels_;
  std::size_t next_ = 0;
  std::optional<Error> failure_;
};

}  // namespace

const std::array<std::string, 5> kMeterColumns = {"time_s", "meter", "channel", "power_w", "energy_j"};
const std::array<std::string, 14> kKernelColumns = {"begin_s", "end_s",   "kernel", "pid",        "stream",
                                                    "graph",   "grid_x",  "grid_y", "grid_z",     "block_x",
                                                    "block_y", "block_z", "layer",  "lost_before"};

std::unique_ptr<report::Rows> meter_rows(const record::Database& db, TimePoint begin) {
  return std::make_unique<MeterRows>(db, begin);
}

std::unique_ptr<report::Rows> kernel_rows(const record::Database& db, TimePoint begin) {
  return std::make_unique<KernelRows>(db, begin);
}

}  // namespace rubato::cli
