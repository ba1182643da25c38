#include "core/sweep_table_csv.h"
#include "fuzz/target.h"

// What parses can be written, unless it says why not, and reads back the same.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table = rubato::parse_sweep_table(rubato::fuzz::text_of(data, size));
  if (!table) return 0;
  const auto text = rubato::write_sweep_table(*table);
  if (!text) return 0;
  const auto again = rubato::parse_sweep_table(*text);
  rubato::fuzz::require(again.has_value() && *again == *table);
  return 0;
}
