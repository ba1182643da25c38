#include <span>

#include "fuzz/target.h"
#include "record/chunk.h"

// The first byte says how many samples the row of the record claims, the second its layout.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const rubato::record::ChunkHead head{.layout = data[1], .begin = {}, .samples = data[0]};
  const std::span<const char> blob(reinterpret_cast<const char*>(data + 2), size - 2);
  const auto fast = rubato::record::decode_fast_chunk(head, blob);
  rubato::fuzz::require(!fast || fast->size() == head.samples);
  const auto slow = rubato::record::decode_slow_chunk(head, blob);
  rubato::fuzz::require(!slow || slow->size() == head.samples);
  return 0;
}
