#include "conduct/mark_reader.h"
#include "fuzz/target.h"

// A ring file written by a hostile job, read twice.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rubato::fuzz::Scratch scratch;
  scratch.write("1-1.ring", rubato::fuzz::text_of(data, size));
  rubato::conduct::MarkReader reader(scratch.folder());
  const rubato::TimePoint now{2'000'000'000};
  (void)reader.poll(now);
  (void)reader.poll(now + rubato::Seconds(1));
  rubato::fuzz::require(reader.rings() <= 1);
  return 0;
}
