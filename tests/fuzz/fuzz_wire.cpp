#include "fuzz/target.h"
#include "wire/message.h"

// What decodes must encode to something that decodes to the same text again.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto message = rubato::wire::decode(rubato::fuzz::text_of(data, size));
  if (!message) return 0;
  const std::string again = rubato::wire::encode(*message);
  const auto twice = rubato::wire::decode(again);
  rubato::fuzz::require(twice.has_value() && rubato::wire::encode(*twice) == again);
  return 0;
}
