#include "conduct/kernel_reader.h"
#include "fuzz/target.h"

// A kernel ring written by a hostile job, read twice and closed.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rubato::fuzz::Scratch scratch;
  scratch.write("1-0.kernels", rubato::fuzz::text_of(data, size));
  rubato::conduct::KernelReader reader(scratch.folder());
  const rubato::TimePoint now{20'000'000'000};
  const auto first = reader.poll(now);
  const auto last = reader.finish(now + rubato::Seconds(1));
  rubato::fuzz::require(reader.rings() <= 1);
  for (const auto* news : {&first, &last}) {
    for (const auto& k : news->kernels) rubato::fuzz::require(k.begin <= k.end);
    for (const auto& c : news->cycles) rubato::fuzz::require(c.begin <= c.end);
  }
  return 0;
}
