#include "record/kernel_chunk.h"

#include <array>

#include "base/text.h"

namespace rubato::record {
namespace {

constexpr std::size_t kColumns = 12;
using Words = std::array<std::uint64_t, kColumns>;

std::uint64_t pair(std::uint32_t low, std::uint32_t high) {
  return low | std::uint64_t{high} << 32U;
}
std::uint32_t low(std::uint64_t pair) {
  return static_cast<std::uint32_t>(pair);
}
std::uint32_t high(std::uint64_t pair) {
  return static_cast<std::uint32_t>(pair >> 32U);
}

std::uint64_t half_of(const std::array<std::uint8_t, 16>& uuid, std::size_t first) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) word |= std::uint64_t{uuid[first + i]} << (8 * i);
  return word;
}

Words words_of(const KernelRecord& k, TimePoint previous) {
  return {static_cast<std::uint64_t>(k.begin.ns - previous.ns),
          static_cast<std::uint64_t>(k.end.ns - k.begin.ns),
          k.name_hash,
          k.layer,
          k.lost_before,
          pair(k.grid[0], k.grid[1]),
          pair(k.grid[2], k.block[0]),
          pair(k.block[1], k.block[2]),
          pair(k.stream, k.graph),
          pair(static_cast<std::uint32_t>(k.pid), 0),
          half_of(k.device_uuid, 0),
          half_of(k.device_uuid, 8)};
}

KernelRecord kernel_of(const Words& w, TimePoint previous) {
  KernelRecord k;
  // Unsigned, so that no number in a damaged file is a sum that C++ does not define.
  const std::uint64_t begin = static_cast<std::uint64_t>(previous.ns) + w[0];
  k.begin.ns = static_cast<std::int64_t>(begin);
  k.end.ns = static_cast<std::int64_t>(begin + w[1]);
  k.name_hash = w[2];
  k.layer = w[3];
  k.lost_before = w[4];
  k.grid = {low(w[5]), high(w[5]), low(w[6])};
  k.block = {high(w[6]), low(w[7]), high(w[7])};
  k.stream = low(w[8]);
  k.graph = high(w[8]);
  k.pid = static_cast<std::int32_t>(low(w[9]));
  for (std::size_t i = 0; i < 16; ++i)
    k.device_uuid[i] = static_cast<std::uint8_t>(w[10 + i / 8] >> (8 * (i % 8)));
  return k;
}

}  // namespace

Result<std::span<const char>> KernelEncoder::encode(std::span<const KernelRecord> kernels) {
  std::vector<Words> rows;
  rows.reserve(kernels.size());
  TimePoint previous = kernels.front().begin;
  for (const KernelRecord& kernel : kernels) {
    rows.push_back(words_of(kernel, previous));
    previous = kernel.begin;
  }
  payload_.clear();
  for (std::size_t column = 0; column < kColumns; ++column)
    for (const Words& row : rows) append_u64(payload_, row[column]);
  return compressor_.compress(payload_, Effort::thorough);
}

Result<std::vector<KernelRecord>> decode_kernels(std::int64_t layout, TimePoint begin, std::size_t count,
                                                 std::span<const char> blob) {
  // A commit lies a second after the one before; no GPU starts more kernels than this in one.
  constexpr std::size_t kMostKernels = 10'000'000;
  const auto corrupt = [](std::string_view why) {
    return fail(ErrorCode::corrupt, cat("kernel chunk: ", why));
  };
  if (layout != kKernelChunkLayout) return corrupt(cat("unknown layout ", layout));
  if (count > kMostKernels) return corrupt(cat(count, " kernels, at most ", kMostKernels, " fit"));
  const std::size_t size = count * kColumns * 8;
  const auto payload = decompress(blob, size, size);
  if (!payload) return corrupt(payload.error().what);
  Cursor in(*payload);
  std::vector<Words> rows(count);
  for (std::size_t column = 0; column < kColumns; ++column)
    for (Words& row : rows) row[column] = in.u64();
  std::vector<KernelRecord> kernels;
  kernels.reserve(count);
  for (const Words& row : rows) {
    kernels.push_back(kernel_of(row, begin));
    begin = kernels.back().begin;
  }
  return kernels;
}

}  // namespace rubato::record
