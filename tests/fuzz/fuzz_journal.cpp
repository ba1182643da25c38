#include "fuzz/target.h"
#include "guard/journal_format.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = rubato::fuzz::text_of(data, size);
  const auto content = rubato::guard::parse_journal(text, {"GPU-1"});
  if (!content || !content->has_value()) return 0;
  // The valid prefix alone says the same.
  rubato::fuzz::require((*content)->valid_bytes <= size);
  const auto again = rubato::guard::parse_journal(text.substr(0, (*content)->valid_bytes), {"GPU-1"});
  rubato::fuzz::require(again && again->has_value() && (**again).valid_bytes == (**content).valid_bytes);
  return 0;
}
