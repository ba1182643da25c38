#include "fuzz/target.h"
#include "record/reader.h"

// A run record somebody sent: whatever is in the file, reading it gives a record or an error.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rubato::fuzz::Scratch scratch;
  const auto file = scratch.write("run.db", rubato::fuzz::text_of(data, size));
  (void)rubato::record::read_run(file);
  return 0;
}
