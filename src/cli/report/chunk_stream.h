// Samples of a run record read a chunk at a time, so that a day of them needs the memory of a few seconds.
#pragma once

#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "record/chunk.h"
#include "record/sqlite.h"

namespace rubato::cli {

/// One kind of sample of one GPU or meter channel.
template <class Sample>
class ChunkStream {
 public:
  /// `owner`: the column of `table` that names whose samples they are.
  ChunkStream(const record::Database& db, std::string_view table, std::string_view owner, std::int64_t row)
      : db_(&db),
        // Chunks of one owner and kind are added in order of time, so row order needs no sorting.
        chunks_(cat("SELECT layout,begin_ns,samples,data FROM ", table, " WHERE ", owner, "=", row,
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

}  // namespace rubato::cli
