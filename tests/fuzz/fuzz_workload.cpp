#include "device/sim/work.h"
#include "device/sim/workload_model.h"
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace sim = rubato::device::sim;
  const auto workload = sim::parse_workload(rubato::fuzz::text_of(data, size));
  if (workload) rubato::fuzz::require(sim::check_segments(workload->segments).has_value());
  const auto model = sim::parse_workload_model(rubato::fuzz::text_of(data, size));
  if (model && *model) rubato::fuzz::require((*model)->parameters >= 1 && (*model)->batch >= 1U);
  return 0;
}
