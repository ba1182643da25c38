// Samples of one GPU and kind since the last chunk: plain rows first, then one blob.
#pragma once

#include <string_view>
#include <vector>

#include "record/chunk.h"
#include "record/schema.h"
#include "record/sqlite.h"

namespace rubato::record {

inline constexpr Seconds kChunkSpan{10.0};

/// Statements the buffers of one writer share.
struct SampleStatements {
  Statement open{insert_into("sample_open", 13)};
  Statement chunk{insert_into("sample_chunk", 7)};
  Statement forget{"DELETE FROM sample_open WHERE device_id=? AND kind=? AND at_ns<?"};
};

template <class Sample>
class SampleBuffer {
 public:
  explicit SampleBuffer(std::string_view kind) : kind_(kind) {}

  void add(const Sample& sample) { samples_.push_back(sample); }

  /// Writes the plain rows of what was added since the last call.
  [[nodiscard]] bool write_open(const Database& db, SampleStatements& sql, std::int64_t device) {
    for (; written_ < samples_.size(); ++written_)
      if (!write_row(db, sql.open, device, samples_[written_])) return false;
    return true;
  }

  /// Folds whole stretches of ten seconds, or with `all` the rest too, and removes their plain rows.
  [[nodiscard]] bool fold(const Database& db, SampleStatements& sql, std::int64_t device, bool all) {
    std::size_t begin = 0;
    while (begin < samples_.size()) {
      const TimePoint limit = samples_[begin].at + kChunkSpan;
      std::size_t end = begin;
      while (end < samples_.size() && samples_[end].at < limit) ++end;
      if (end == samples_.size() && !all) break;
      const std::span<const Sample> part(&samples_[begin], end - begin);
      const auto blob = encode_chunk(part);
      if (!blob) return false;
      if (!sql.chunk.run(db, device, kind_, kChunkLayout, part.front().at, part.back().at,
                         static_cast<std::int64_t>(part.size()), *blob))
        return false;
      begin = end;
    }
    if (begin == 0) return true;
    const TimePoint rest = begin < samples_.size() ? samples_[begin].at : samples_.back().at + Seconds(1e-9);
    if (!sql.forget.run(db, device, kind_, rest)) return false;
    samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(begin));
    written_ -= begin;
    return true;
  }

 private:
  static bool write_row(const Database& db, Statement& open, std::int64_t device, const FastReading& s) {
    const auto none = std::nullopt;
    return open.run(db, device, "fast", s.at, s.power, s.energy_counter, none, none, none, none, none, none,
                    none, none);
  }
  static bool write_row(const Database& db, Statement& open, std::int64_t device, const SlowReading& s) {
    std::optional<std::int64_t> limiter;
    if (s.limiter) limiter = limiter_bits(*s.limiter);
    return open.run(db, device, "slow", s.at, std::nullopt, std::nullopt, s.sm_clock, s.memory_clock,
                    s.sm_utilisation, s.memory_utilisation, s.temperature, limiter, s.requested_limit,
                    s.enforced_limit);
  }

  std::string_view kind_;
  std::vector<Sample> samples_;
  std::size_t written_ = 0;  // of samples_, as plain rows
};

}  // namespace rubato::record
