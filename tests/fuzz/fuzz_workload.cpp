#include "device/sim/work.h"
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace sim = rubato::device::sim;
  const auto workload = sim::parse_workload(rubato::fuzz::text_of(data, size));
  if (workload) rubato::fuzz::require(sim::check_segments(workload->segments).has_value());
  return 0;
}
