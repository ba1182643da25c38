#include "fuzz/target.h"
#include "meter/keys.h"
#include "meter/registry.h"

// meters.toml as anybody may have written it: what is read has a known kind, and a file for messages.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rubato::fuzz::Scratch scratch;
  const auto file = scratch.write("meters.toml", rubato::fuzz::text_of(data, size));
  const auto tables = rubato::meter::read_meter_tables(file);
  if (!tables) {
    rubato::fuzz::require(!tables.error().what.empty());
    return 0;
  }
  for (const auto& table : *tables) {
    rubato::fuzz::require(table.file == file && table.values.contains("kind"));
    const rubato::meter::Keys keys(table);
    (void)keys.only({"host"});
    (void)keys.scope_or("scope", rubato::Scope::node);
    const auto number = keys.number_or("scale", 1, 0, 10);
    rubato::fuzz::require(!number || (*number >= 0 && *number <= 10));
  }
  return 0;
}
