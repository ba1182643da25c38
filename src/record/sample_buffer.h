// Samples of one GPU or meter channel and kind since the last whole chunk. Each commit adds them as one small
// chunk; what is ten seconds long becomes one chunk in the place of the small ones.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "record/chunk.h"
#include "record/schema.h"
#include "record/sqlite.h"

namespace rubato::record {

inline constexpr Seconds kChunkSpan{10.0};

/// What the buffers of one writer share.
struct ChunkSink {
  explicit ChunkSink(std::string_view table)
      : insert(insert_into(table, 7)), drop(cat("DELETE FROM ", table, " WHERE rowid=?")) {}
  Statement insert;
  Statement drop;
  ChunkEncoder encoder;
};

template <class Sample>
class SampleBuffer {
 public:
  explicit SampleBuffer(std::string_view kind) : kind_(kind) {}

  void add(const Sample& sample) { samples_.push_back(sample); }

  /// With `all` what is left becomes a whole chunk too, however short.
  [[nodiscard]] bool write(const Database& db, ChunkSink& sink, std::int64_t of, bool all) {
    while (!samples_.empty()) {
      const TimePoint limit = samples_.front().at + kChunkSpan;
      const auto end = std::find_if(samples_.begin() + static_cast<std::ptrdiff_t>(written_), samples_.end(),
                                    [limit](const Sample& s) { return s.at >= limit; });
      if (end == samples_.end() && !all) break;
      for (const std::int64_t row : rows_)
        if (!sink.drop.run(db, row)) return false;
      rows_.clear();
      if (!insert(db, sink, of, 0, static_cast<std::size_t>(end - samples_.begin()), Effort::thorough))
        return false;
      samples_.erase(samples_.begin(), end);
      written_ = 0;
    }
    if (written_ == samples_.size()) return true;
    if (!insert(db, sink, of, written_, samples_.size(), Effort::quick)) return false;
    rows_.push_back(sqlite3_last_insert_rowid(db.get()));
    written_ = samples_.size();
    return true;
  }

 private:
  bool insert(const Database& db, ChunkSink& sink, std::int64_t of, std::size_t begin, std::size_t end,
              Effort effort) {
    const std::span<const Sample> part(&samples_[begin], end - begin);
    const auto blob = sink.encoder.encode(part, effort);
    return blob && sink.insert.run(db, of, kind_, kChunkLayout, part.front().at, part.back().at,
                                   static_cast<std::int64_t>(part.size()), *blob);
  }

  std::string_view kind_;
  std::vector<Sample> samples_;
  std::size_t written_ = 0;         // of samples_, all in small chunks
  std::vector<std::int64_t> rows_;  // those small chunks
};

}  // namespace rubato::record
