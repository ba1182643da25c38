#include "record/chunk.h"

#include <zstd.h>

#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace rubato::record {
namespace {

// Every value column of a sample as an optional number, so that one loop writes and one loop reads them all.
template <class Sample>
struct Columns;

template <>
struct Columns<FastReading> {
  static constexpr std::size_t kCount = 2;
  using Row = std::array<std::optional<double>, kCount>;
  static Row take(const FastReading& s);
  static FastReading put(TimePoint at, const Row& row);
};

template <>
struct Columns<SlowReading> {
  static constexpr std::size_t kCount = 8;
  using Row = std::array<std::optional<double>, kCount>;
  static Row take(const SlowReading& s);
  static SlowReading put(TimePoint at, const Row& row);
};

template <class Q>
std::optional<double> plain(const std::optional<Q>& q) {
  return q ? std::optional(q->value()) : std::nullopt;
}
template <class Q>
std::optional<Q> typed(const std::optional<double>& value) {
  return value ? std::optional(Q(*value)) : std::nullopt;
}

Columns<FastReading>::Row Columns<FastReading>::take(const FastReading& s) {
  return {plain(s.power), plain(s.energy_counter)};
}
FastReading Columns<FastReading>::put(TimePoint at, const Row& row) {
  return {at, typed<Watts>(row[0]), typed<Joules>(row[1])};
}
Columns<SlowReading>::Row Columns<SlowReading>::take(const SlowReading& s) {
  std::optional<double> limiter;
  if (s.limiter) limiter = static_cast<double>(limiter_bits(*s.limiter));
  return {plain(s.sm_clock),        plain(s.memory_clock),  s.sm_utilisation,
          s.memory_utilisation,     plain(s.temperature),   limiter,
          plain(s.requested_limit), plain(s.enforced_limit)};
}
SlowReading Columns<SlowReading>::put(TimePoint at, const Row& row) {
  SlowReading s{at,
                typed<Megahertz>(row[0]),
                typed<Megahertz>(row[1]),
                row[2],
                row[3],
                typed<Celsius>(row[4]),
                std::nullopt,
                typed<Watts>(row[6]),
                typed<Watts>(row[7])};
  if (row[5]) s.limiter = limiter_from_bits(static_cast<std::int64_t>(*row[5]));
  return s;
}

void append_u64(std::vector<char>& out, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>((value >> shift) & 0xff));
}

std::uint64_t read_u64(std::span<const char> in, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(in[at + i])) << (8 * i);
  return value;
}

std::size_t bitmap_size(std::size_t count) {
  return (count + 7) / 8;
}

std::size_t payload_size(std::size_t columns, std::size_t count) {
  return 8 * count + columns * (bitmap_size(count) + 8 * count);
}

Result<std::vector<char>> compress(std::span<const char> payload) {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, 1);
  // SQLite does not check its pages; a flipped bit in a blob is only found by this.
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::vector<char> blob(ZSTD_compressBound(payload.size()));
  const std::size_t size =
      ZSTD_compress2(context.get(), blob.data(), blob.size(), payload.data(), payload.size());
  if (ZSTD_isError(size) != 0)
    return fail(ErrorCode::internal, cat("cannot compress a sample chunk: ", ZSTD_getErrorName(size)));
  blob.resize(size);
  return blob;
}

template <class Sample>
Result<std::vector<char>> encode(std::span<const Sample> samples) {
  using C = Columns<Sample>;
  std::vector<char> payload;
  payload.reserve(payload_size(C::kCount, samples.size()));
  std::int64_t previous = samples.front().at.ns;
  for (const Sample& s : samples) {
    append_u64(payload, static_cast<std::uint64_t>(s.at.ns - previous));
    previous = s.at.ns;
  }
  for (std::size_t column = 0; column < C::kCount; ++column) {
    const std::size_t bitmap = payload.size();
    payload.resize(bitmap + bitmap_size(samples.size()));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::optional<double> value = C::take(samples[i])[column];
      if (value) payload[bitmap + i / 8] = static_cast<char>(payload[bitmap + i / 8] | (1 << (i % 8)));
      append_u64(payload, std::bit_cast<std::uint64_t>(value.value_or(0.0)));
    }
  }
  return compress(payload);
}

template <class Sample>
Result<std::vector<Sample>> decode(TimePoint begin, std::size_t count, std::span<const char> blob) {
  using C = Columns<Sample>;
  // Ten seconds at a kilohertz are 10 000 samples: more than this is no chunk of ours, and would only cost
  // memory.
  constexpr std::size_t kMostSamples = 10'000'000;
  const auto corrupt = [](std::string_view why) {
    return fail(ErrorCode::corrupt, cat("sample chunk: ", why));
  };
  if (count > kMostSamples) return corrupt(cat(count, " samples, at most ", kMostSamples, " fit"));
  std::vector<char> payload(payload_size(C::kCount, count));
  const std::size_t size = ZSTD_decompress(payload.data(), payload.size(), blob.data(), blob.size());
  if (ZSTD_isError(size) != 0) return corrupt(ZSTD_getErrorName(size));
  if (size != payload.size())
    return corrupt(cat(size, " bytes, ", payload.size(), " are needed for ", count, " samples"));

  std::vector<typename C::Row> rows(count);
  std::size_t at = 8 * count;
  for (std::size_t column = 0; column < C::kCount; ++column) {
    const std::size_t bitmap = at;
    at += bitmap_size(count);
    for (std::size_t i = 0; i < count; ++i, at += 8)
      if ((static_cast<unsigned char>(payload[bitmap + i / 8]) >> (i % 8) & 1) != 0)
        rows[i][column] = std::bit_cast<double>(read_u64(payload, at));
  }
  std::vector<Sample> samples;
  samples.reserve(count);
  auto time = static_cast<std::uint64_t>(begin.ns);
  for (std::size_t i = 0; i < count; ++i) {
    time += read_u64(payload, 8 * i);
    samples.push_back(C::put(TimePoint{static_cast<std::int64_t>(time)}, rows[i]));
  }
  return samples;
}

}  // namespace

Result<std::vector<char>> encode_chunk(std::span<const FastReading> samples) {
  return encode(samples);
}
Result<std::vector<char>> encode_chunk(std::span<const SlowReading> samples) {
  return encode(samples);
}

Result<std::vector<FastReading>> decode_fast_chunk(TimePoint begin, std::size_t count,
                                                   std::span<const char> blob) {
  return decode<FastReading>(begin, count, blob);
}
Result<std::vector<SlowReading>> decode_slow_chunk(TimePoint begin, std::size_t count,
                                                   std::span<const char> blob) {
  return decode<SlowReading>(begin, count, blob);
}

std::int64_t limiter_bits(const LimiterReasons& r) {
  return (r.idle ? 1 : 0) | (r.power_cap ? 2 : 0) | (r.thermal ? 4 : 0) | (r.hardware ? 8 : 0) |
         (r.user_clocks ? 16 : 0) | (r.other ? 32 : 0);
}

LimiterReasons limiter_from_bits(std::int64_t bits) {
  return {(bits & 1) != 0, (bits & 2) != 0,  (bits & 4) != 0,
          (bits & 8) != 0, (bits & 16) != 0, (bits & 32) != 0};
}

}  // namespace rubato::record
