#include "fuzz/target.h"
#include "record/sensor_store.h"

// A file of found sensor facts that somebody else wrote.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rubato::fuzz::Scratch scratch;
  scratch.write("GPU-1.json", rubato::fuzz::text_of(data, size));
  const auto found = rubato::record::load_sensor_facts(scratch.folder(), {"GPU-1"}, "535");
  rubato::fuzz::require(!found || !found->update_period || found->update_period->value() > 0);
  return 0;
}
