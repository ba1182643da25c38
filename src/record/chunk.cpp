#include "record/chunk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace rubato::record {
namespace {

// Every value column of a sample as an optional number, so that one loop writes and one loop reads them all.
// Layout 1 had the first kInLayout1 of them.
template <class Sample>
struct Columns;

template <>
struct Columns<FastReading> {
  static constexpr std::size_t kCount = 6;
  static constexpr std::size_t kInLayout1 = 2;
  using Row = std::array<std::optional<double>, kCount>;
  static Row take(const FastReading& s);
  static FastReading put(TimePoint at, const Row& row);
};

template <>
struct Columns<SlowReading> {
  static constexpr std::size_t kCount = 13;
  static constexpr std::size_t kInLayout1 = 8;
  using Row = std::array<std::optional<double>, kCount>;
  static Row take(const SlowReading& s);
  static SlowReading put(TimePoint at, const Row& row);
};

// How a column of layout 2 says which samples have the value.
enum class Presence : unsigned char { none = 0, all = 1, bitmap = 2 };

template <class Q>
std::optional<double> plain(const std::optional<Q>& q) {
  return q ? std::optional(q->value()) : std::nullopt;
}
template <class Q>
std::optional<Q> typed(const std::optional<double>& value) {
  return value ? std::optional(Q(*value)) : std::nullopt;
}

Columns<FastReading>::Row Columns<FastReading>::take(const FastReading& s) {
  return {plain(s.power),        plain(s.energy_counter),        plain(s.power_average),
          plain(s.module_power), plain(s.module_energy_counter), plain(s.memory_power)};
}
FastReading Columns<FastReading>::put(TimePoint at, const Row& row) {
  return {at,
          typed<Watts>(row[0]),
          typed<Joules>(row[1]),
          typed<Watts>(row[2]),
          typed<Watts>(row[3]),
          typed<Joules>(row[4]),
          typed<Watts>(row[5])};
}
Columns<SlowReading>::Row Columns<SlowReading>::take(const SlowReading& s) {
  std::optional<double> limiter;
  if (s.limiter) limiter = static_cast<double>(limiter_bits(*s.limiter));
  std::optional<double> state;
  if (s.performance_state) state = *s.performance_state;
  return {plain(s.sm_clock),           plain(s.memory_clock),    s.sm_utilisation,
          s.memory_utilisation,        plain(s.temperature),     limiter,
          plain(s.requested_limit),    plain(s.enforced_limit),  state,
          plain(s.limited.power_cap),  plain(s.limited.thermal), plain(s.limited.hw_thermal),
          plain(s.limited.power_brake)};
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
  if (row[8]) s.performance_state = static_cast<unsigned>(std::clamp(*row[8], 0.0, 255.0));
  s.limited = {typed<Seconds>(row[9]), typed<Seconds>(row[10]), typed<Seconds>(row[11]),
               typed<Seconds>(row[12])};
  return s;
}

std::size_t bitmap_size(std::size_t count) {
  return (count + 7) / 8;
}

template <class Sample>
void lay_out(std::span<const Sample> samples, std::vector<char>& payload) {
  using C = Columns<Sample>;
  payload.clear();
  std::int64_t previous = samples.front().at.ns;
  for (const Sample& s : samples) {
    append_u64(payload, static_cast<std::uint64_t>(s.at.ns - previous));
    previous = s.at.ns;
  }
  for (std::size_t column = 0; column < C::kCount; ++column) {
    const auto present = static_cast<std::size_t>(std::count_if(
        samples.begin(), samples.end(), [&](const Sample& s) { return C::take(s)[column].has_value(); }));
    const Presence presence = present == 0                ? Presence::none
                              : present == samples.size() ? Presence::all
                                                          : Presence::bitmap;
    payload.push_back(static_cast<char>(presence));
    if (presence == Presence::none) continue;
    const std::size_t bitmap = payload.size();
    if (presence == Presence::bitmap) payload.resize(bitmap + bitmap_size(samples.size()));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::optional<double> value = C::take(samples[i])[column];
      if (!value) continue;
      if (presence == Presence::bitmap)
        payload[bitmap + i / 8] = static_cast<char>(payload[bitmap + i / 8] | (1 << (i % 8)));
      append_u64(payload, std::bit_cast<std::uint64_t>(*value));
    }
  }
}

bool bit(std::span<const char> bitmap, std::size_t i) {
  return i / 8 < bitmap.size() && (static_cast<unsigned char>(bitmap[i / 8]) >> (i % 8) & 1) != 0;
}

// Layout 1 has a bitmap and a value for every sample; layout 2 one word for the column and present values
// alone. False: no such presence.
template <class Row>
bool read_column(Cursor& in, std::int64_t layout, std::size_t column, std::vector<Row>& rows) {
  Presence presence = Presence::bitmap;
  if (layout != 1) {
    const auto told = in.take(1);
    if (told.empty()) return true;
    if (static_cast<unsigned char>(told[0]) > static_cast<unsigned char>(Presence::bitmap)) return false;
    presence = static_cast<Presence>(told[0]);
  }
  if (presence == Presence::none) return true;
  std::span<const char> bitmap;
  if (presence == Presence::bitmap) bitmap = in.take(bitmap_size(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool present = presence == Presence::all || bit(bitmap, i);
    if (!present && layout != 1) continue;
    const double value = std::bit_cast<double>(in.u64());
    if (present) rows[i][column] = value;
  }
  return true;
}

template <class Sample>
Result<std::vector<Sample>> decode(const ChunkHead& head, std::span<const char> blob) {
  using C = Columns<Sample>;
  // Ten seconds at a kilohertz are 10 000 samples: more than this is no chunk of ours, and would only cost
  // memory.
  constexpr std::size_t kMostSamples = 10'000'000;
  const auto corrupt = [](std::string_view why) {
    return fail(ErrorCode::corrupt, cat("sample chunk: ", why));
  };
  if (head.layout < 1 || head.layout > kChunkLayout) return corrupt(cat("unknown layout ", head.layout));
  if (head.samples > kMostSamples)
    return corrupt(cat(head.samples, " samples, at most ", kMostSamples, " fit"));
  const std::size_t columns = head.layout == 1 ? C::kInLayout1 : C::kCount;
  const std::size_t most = 8 * head.samples + columns * (1 + bitmap_size(head.samples) + 8 * head.samples);
  const auto payload = decompress(blob, 8 * head.samples, most);
  if (!payload) return corrupt(payload.error().what);

  Cursor in(*payload);
  std::vector<Sample> samples;
  std::vector<std::uint64_t> steps(head.samples);
  for (std::uint64_t& step : steps) step = in.u64();
  std::vector<typename C::Row> rows(head.samples);
  for (std::size_t column = 0; column < columns; ++column)
    if (!read_column(in, head.layout, column, rows)) return corrupt("a column of unknown form");
  if (!in.exhausted()) return corrupt(cat(payload->size(), " bytes do not hold ", head.samples, " samples"));
  samples.reserve(head.samples);
  auto time = static_cast<std::uint64_t>(head.begin.ns);
  for (std::size_t i = 0; i < head.samples; ++i) {
    time += steps[i];
    samples.push_back(C::put(TimePoint{static_cast<std::int64_t>(time)}, rows[i]));
  }
  return samples;
}

}  // namespace

template <class Sample>
Result<std::span<const char>> ChunkEncoder::encode_any(std::span<const Sample> samples, Effort effort) {
  lay_out(samples, payload_);
  return compressor_.compress(payload_, effort);
}

Result<std::span<const char>> ChunkEncoder::encode(std::span<const FastReading> samples, Effort effort) {
  return encode_any(samples, effort);
}
Result<std::span<const char>> ChunkEncoder::encode(std::span<const SlowReading> samples, Effort effort) {
  return encode_any(samples, effort);
}

Result<std::vector<FastReading>> decode_fast_chunk(const ChunkHead& head, std::span<const char> blob) {
  return decode<FastReading>(head, blob);
}
Result<std::vector<SlowReading>> decode_slow_chunk(const ChunkHead& head, std::span<const char> blob) {
  return decode<SlowReading>(head, blob);
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
