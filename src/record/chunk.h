// Up to ten seconds of samples of one GPU as one compressed blob; the layout is
// docs/formats.md#sample-chunks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "core/sample.h"

namespace rubato::record {

inline constexpr int kChunkLayout = 1;

/// `samples` in order of time, not empty.
[[nodiscard]] Result<std::vector<char>> encode_chunk(std::span<const FastReading> samples);
[[nodiscard]] Result<std::vector<char>> encode_chunk(std::span<const SlowReading> samples);

/// `begin` and `count` stand in the table beside the blob. corrupt: the blob does not hold what they say.
[[nodiscard]] Result<std::vector<FastReading>> decode_fast_chunk(TimePoint begin, std::size_t count,
                                                                 std::span<const char> blob);
[[nodiscard]] Result<std::vector<SlowReading>> decode_slow_chunk(TimePoint begin, std::size_t count,
                                                                 std::span<const char> blob);

/// Bits of LimiterReasons as recorded: idle 1, power_cap 2, thermal 4, hardware 8, user_clocks 16, other 32.
[[nodiscard]] std::int64_t limiter_bits(const LimiterReasons& reasons);
[[nodiscard]] LimiterReasons limiter_from_bits(std::int64_t bits);

}  // namespace rubato::record
