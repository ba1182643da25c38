#include <array>

#include "device/sim/world.h"
#include "fuzz/target.h"

// A scenario that parses must make a world that can be read.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace sim = rubato::device::sim;
  const auto scenario = sim::parse_scenario(rubato::fuzz::text_of(data, size));
  if (!scenario) return 0;
  // The faults themselves (sleep, hang, kill) are not for this process.
  sim::Scenario calm = *scenario;
  calm.faults.clear();
  const std::array<std::string, 1> profiles{"v100"};
  const auto world = sim::SimWorld::create_private(profiles, calm);
  if (world) rubato::fuzz::require((*world)->truth(0, rubato::TimePoint{1'000'000}).has_value());
  return 0;
}
