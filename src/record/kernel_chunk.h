// Kernels of one commit as one compressed blob (docs/formats.md#kernel-chunks): a duty cycle brings thousands
// a second, the same few again and again.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "core/kernel_record.h"
#include "record/blob.h"

namespace rubato::record {

inline constexpr int kKernelChunkLayout = 1;

class KernelEncoder {
 public:
  /// Not empty; in any order. The blob is valid until the next call.
  [[nodiscard]] Result<std::span<const char>> encode(std::span<const KernelRecord> kernels);

 private:
  Compressor compressor_;
  std::vector<char> payload_;
};

/// corrupt: the blob does not hold `count` kernels, or its layout is another one.
[[nodiscard]] Result<std::vector<KernelRecord>> decode_kernels(std::int64_t layout, TimePoint begin,
                                                               std::size_t count, std::span<const char> blob);

}  // namespace rubato::record
