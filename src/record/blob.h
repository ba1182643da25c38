// What chunks are made of: little-endian 64-bit words in a row, compressed as one zstd frame with a checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace rubato::record {

/// quick: for what is written anew in a few seconds.
enum class Effort { quick, thorough };

void append_u64(std::vector<char>& out, std::uint64_t value);

/// Keeps its buffers: a run compresses thousands of chunks, and none of them should cost an allocation.
class Compressor {
 public:
  Compressor();
  Compressor(Compressor&&) noexcept;
  ~Compressor();
  /// Valid until the next call.
  [[nodiscard]] Result<std::span<const char>> compress(std::span<const char> payload, Effort effort);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// corrupt: no such frame, or its content is not `least` to `most` bytes long. Neither the frame nor a
/// caller's figures are believed alone, so no memory is taken for what cannot be.
[[nodiscard]] Result<std::vector<char>> decompress(std::span<const char> blob, std::size_t least,
                                                   std::size_t most);

/// The bytes of a payload from left to right; beyond its end everything is nothing, and exhausted() says so.
class Cursor {
 public:
  explicit Cursor(std::span<const char> bytes) : bytes_(bytes) {}
  std::uint64_t u64();
  std::span<const char> take(std::size_t size);
  /// Everything was taken, and no more than that.
  [[nodiscard]] bool exhausted() const { return !short_ && at_ == bytes_.size(); }

 private:
  std::span<const char> bytes_;
  std::size_t at_ = 0;
  bool short_ = false;
};

}  // namespace rubato::record
