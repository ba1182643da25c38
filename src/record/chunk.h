// Up to ten seconds of samples of one GPU as one compressed blob; the layout is
// docs/formats.md#sample-chunks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "core/sample.h"
#include "record/blob.h"

namespace rubato::record {

/// Written; layout 1 (of schema version 1) is read as well.
inline constexpr int kChunkLayout = 2;

class ChunkEncoder {
 public:
  /// `samples` in order of time, not empty. The blob is valid until the next call.
  [[nodiscard]] Result<std::span<const char>> encode(std::span<const FastReading> samples,
                                                     Effort effort = Effort::thorough);
  [[nodiscard]] Result<std::span<const char>> encode(std::span<const SlowReading> samples,
                                                     Effort effort = Effort::thorough);

 private:
  template <class Sample>
  Result<std::span<const char>> encode_any(std::span<const Sample> samples, Effort effort);
  Compressor compressor_;
  std::vector<char> payload_;
};

/// What the table says beside a blob.
struct ChunkHead {
  std::int64_t layout = kChunkLayout;
  TimePoint begin;
  std::size_t samples = 0;
};
/// corrupt: the blob does not hold what its head says.
[[nodiscard]] Result<std::vector<FastReading>> decode_fast_chunk(const ChunkHead& head,
                                                                 std::span<const char> blob);
[[nodiscard]] Result<std::vector<SlowReading>> decode_slow_chunk(const ChunkHead& head,
                                                                 std::span<const char> blob);

/// Bits of LimiterReasons as recorded: idle 1, power_cap 2, thermal 4, hardware 8, user_clocks 16, other 32.
[[nodiscard]] std::int64_t limiter_bits(const LimiterReasons& reasons);
[[nodiscard]] LimiterReasons limiter_from_bits(std::int64_t bits);

}  // namespace rubato::record
