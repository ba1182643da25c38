#include "report/packed_series.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace rubato::report {
namespace {

constexpr double kMost = 70368744177664.0;  // 2^46 quanta: what a page computes with stays exact

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}

/// The median of the differences, of a thousand of them where there are more.
std::int64_t usual_step(const std::vector<std::int64_t>& quanta) {
  const std::size_t stride = quanta.size() / 1000 + 1;
  std::vector<std::int64_t> steps;
  for (std::size_t i = 1; i < quanta.size(); i += stride) steps.push_back(quanta[i] - quanta[i - 1]);
  if (steps.empty()) return 0;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

}  // namespace

void SeriesPacker::moments(double quantum, const Read& read) {
  add("time_s", quantum, read, true);
}

void SeriesPacker::values(std::string name, double quantum, const Read& read) {
  add(std::move(name), quantum, read, false);
}

void SeriesPacker::add(std::string name, double quantum, const Read& read, bool regular) {
  std::string presence((count_ + 7) / 8, '\0');
  std::vector<std::int64_t> quanta;
  quanta.reserve(count_);
  for (std::size_t i = 0; i < count_; ++i) {
    const std::optional<double> value = read(i);
    if (!value || !(std::abs(*value / quantum) <= kMost)) continue;
    quanta.push_back(std::llround(*value / quantum));
    presence[i / 8] = static_cast<char>(static_cast<unsigned char>(presence[i / 8]) | 1U << (i % 8));
  }
  if (quanta.empty()) return;

  const std::int64_t step = regular ? usual_step(quanta) : 0;
  std::vector<std::uint64_t> codes(quanta.size(), 0);
  std::uint64_t most = 0;
  for (std::size_t i = 1; i < quanta.size(); ++i) {
    codes[i] = zigzag(quanta[i] - quanta[i - 1] - step);
    most = std::max(most, codes[i]);
  }
  int bytes = 1;
  while (most >> (8 * bytes) != 0) ++bytes;

  if (quanta.size() < count_) payload_ += presence;
  for (int plane = 0; plane < bytes; ++plane)
    for (const std::uint64_t code : codes) payload_ += static_cast<char>(code >> (8 * plane) & 0xffU);
  columns_.emplace_back(Object{{"name", std::move(name)},
                               {"quantum", Amount{quantum, ""}},
                               {"first", quanta.front()},
                               {"step", step},
                               {"bytes", bytes},
                               {"present", quanta.size()}});
}

Result<PackedSeries> SeriesPacker::finish(int id, bool deflated) && {
  PackedSeries out{id, Object{{"id", id}, {"count", count_}, {"deflated", deflated}}, {}};
  out.head.set("columns", std::move(columns_));
  if (!deflated) {
    out.base64 = base64(payload_);
    return out;
  }
  uLongf size = compressBound(static_cast<uLong>(payload_.size()));
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(payload_.data()), static_cast<uLong>(payload_.size()),
                Z_DEFAULT_COMPRESSION) != Z_OK)
    return fail(ErrorCode::internal, "the series could not be packed: zlib had no memory for it", {});
  packed.resize(size);
  out.base64 = base64(packed);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8U | (k < left ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += k <= left ? kLetters[group >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

}  // namespace rubato::report
