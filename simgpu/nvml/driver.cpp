#include "simgpu/nvml/driver.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace rubato::simgpu {

std::string driver_text(const device::sim::SimWorld& world) {
  const char* played = std::getenv("RUBATO_SIM_DRIVER");
  return played != nullptr && *played != '\0' ? played : world.driver_version();
}

Driver driver_of(const device::sim::SimWorld& world) {
  Driver driver;
  if (std::sscanf(driver_text(world).c_str(), "%d.%d", &driver.branch, &driver.release) < 1) return {};
  return driver;
}

// CUDA toolkit release notes, "CUDA Toolkit and Corresponding Driver Versions".
int cuda_of(const Driver& driver) {
  constexpr std::array<std::pair<int, int>, 12> kNewestOfBranch = {{{580, 13000},
                                                                    {575, 12090},
                                                                    {570, 12080},
                                                                    {560, 12060},
                                                                    {555, 12050},
                                                                    {550, 12040},
                                                                    {545, 12030},
                                                                    {535, 12020},
                                                                    {530, 12010},
                                                                    {525, 12000},
                                                                    {470, 11040},
                                                                    {450, 11000}}};
  for (const auto& [branch, cuda] : kNewestOfBranch)
    if (driver.branch >= branch) return cuda;
  return 10020;
}

}  // namespace rubato::simgpu
