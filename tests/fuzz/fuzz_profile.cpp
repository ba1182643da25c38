#include "device/sim/profile.h"
#include "fuzz/target.h"

// A profile that parses can be asked for its voltages and legal clocks.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto profile = rubato::device::sim::parse_profile(rubato::fuzz::text_of(data, size));
  if (!profile) return 0;
  rubato::fuzz::require(!profile->sm_clocks.empty() && !profile->memory_clocks.empty());
  for (const auto memory : profile->memory_clocks)
    rubato::fuzz::require(!profile->sm_clocks_at(memory).empty());
  rubato::fuzz::require(profile->volts_at(profile->sm_clocks.front()) > 0);
  return 0;
}
