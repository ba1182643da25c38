#include "record/blob.h"

#include <zstd.h>

#include <array>

#include "base/text.h"

namespace rubato::record {
namespace {

constexpr int kQuickLevel = -20;  // little but runs of equal bytes are found, at a fraction of the cost
constexpr int kThoroughLevel = 1;

struct Free {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

}  // namespace

void append_u64(std::vector<char>& out, std::uint64_t value) {
  std::array<char, 8> bytes{};
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>((value >> (8 * i)) & 0xff);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

struct Compressor::State {
  std::unique_ptr<ZSTD_CCtx, Free> context{ZSTD_createCCtx()};
  std::vector<char> blob;
};

Compressor::Compressor() : state_(std::make_unique<State>()) {
  // SQLite does not check its pages; a flipped bit in a blob is only found by this.
  ZSTD_CCtx_setParameter(state_->context.get(), ZSTD_c_checksumFlag, 1);
}
Compressor::Compressor(Compressor&&) noexcept = default;
Compressor::~Compressor() = default;

Result<std::span<const char>> Compressor::compress(std::span<const char> payload, Effort effort) {
  State& s = *state_;
  ZSTD_CCtx_setParameter(s.context.get(), ZSTD_c_compressionLevel,
                         effort == Effort::quick ? kQuickLevel : kThoroughLevel);
  s.blob.resize(ZSTD_compressBound(payload.size()));
  const std::size_t size =
      ZSTD_compress2(s.context.get(), s.blob.data(), s.blob.size(), payload.data(), payload.size());
  if (ZSTD_isError(size) != 0)
    return fail(ErrorCode::internal, cat("cannot compress a chunk: ", ZSTD_getErrorName(size)));
  return std::span<const char>(s.blob).first(size);
}

Result<std::vector<char>> decompress(std::span<const char> blob, std::size_t least, std::size_t most) {
  const unsigned long long told = ZSTD_getFrameContentSize(blob.data(), blob.size());
  if (told > most || told < least) return fail(ErrorCode::corrupt, "it does not hold what its row says");
  std::vector<char> payload(static_cast<std::size_t>(told));
  const std::size_t size = ZSTD_decompress(payload.data(), payload.size(), blob.data(), blob.size());
  if (ZSTD_isError(size) != 0) return fail(ErrorCode::corrupt, ZSTD_getErrorName(size));
  payload.resize(size);
  return payload;
}

std::uint64_t Cursor::u64() {
  const auto part = take(8);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < part.size(); ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(part[i])) << (8 * i);
  return value;
}

std::span<const char> Cursor::take(std::size_t size) {
  if (size > bytes_.size() - at_) {
    short_ = true;
    at_ = bytes_.size();
    return {};
  }
  at_ += size;
  return bytes_.subspan(at_ - size, size);
}

}  // namespace rubato::record
