#include <span>

#include "fuzz/target.h"
#include "record/chunk.h"

// The first byte says how many samples the row of the record claims.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t claimed = data[0];
  const std::span<const char> bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto fast = rubato::record::decode_fast_chunk({}, claimed, bytes);
  rubato::fuzz::require(!fast || fast->size() == claimed);
  const auto slow = rubato::record::decode_slow_chunk({}, claimed, bytes);
  rubato::fuzz::require(!slow || slow->size() == claimed);
  return 0;
}
