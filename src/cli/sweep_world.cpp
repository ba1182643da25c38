#include "cli/sweep_world.h"

#include <cstdint>
#include <cstdlib>

#include "base/fnv1a.h"
#include "base/runtime_folder.h"
#include "base/text.h"
#include "device/sim/scenario.h"
#include "device/sim/world.h"

namespace rubato::cli {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

Result<std::optional<std::filesystem::path>> own_world(std::string_view gpu_list, std::string_view key) {
  constexpr std::string_view kSim = "sim:";
  if (!gpu_list.starts_with(kSim) || gpu_list.size() == kSim.size() || is_set("RUBATO_SIM_WORLD") ||
      is_set("RUBATO_SIM_SCENARIO"))
    return std::nullopt;
  std::vector<std::string> profiles;
  for (std::string_view name : split(gpu_list, ',')) {
    if (name.starts_with(kSim)) name.remove_prefix(kSim.size());
    profiles.emplace_back(trim(name));
  }
  const auto runtime = runtime_folder();
  if (!runtime) return fail(runtime.error());
  const auto folder = private_folder(*runtime / "sim");
  if (!folder) return fail(folder.error());
  const std::filesystem::path path = *folder / cat("sweep-", hex(fnv1a(key), 16), ".world");
  device::sim::Scenario scenario;
  scenario.rate = kSweepRate;
  const auto world = device::sim::SimWorld::open_or_create(path, profiles, scenario);
  if (!world) return fail(world.error());
  if (setenv("RUBATO_SIM_WORLD", path.c_str(), 1) != 0)
    return fail(from_errno(errno, "cannot name the simulated world"));
  return path;
}

}  // namespace rubato::cli
