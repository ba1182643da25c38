#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/runtime_folder.h"
#include "base/text.h"
#include "device/sim/world_impl.h"

namespace rubato::device::sim {

std::optional<std::filesystem::path> world_path_from_environment() {
  const char* path = std::getenv("RUBATO_SIM_WORLD");
  if (path == nullptr || *path == '\0') return std::nullopt;
  return std::filesystem::path(path);
}

Result<std::filesystem::path> default_world_path(std::span<const std::string> profiles) {
  std::string list;
  for (const std::string& name : profiles) {
    const Result<const Profile*> profile = find_profile(name);
    if (!profile) return fail(profile.error());
    list += cat(list.empty() ? "" : ",", (*profile)->name);
  }
  const Result<std::filesystem::path> runtime = runtime_folder();
  if (!runtime) return fail(runtime.error());
  const Result<std::filesystem::path> folder = private_folder(*runtime / "sim");
  if (!folder) return fail(folder.error());
  return *folder / (list + ".world");
}

Result<std::unique_ptr<SimWorld>> open_world_from_environment(std::span<const std::string> profiles,
                                                              Rights default_rights) {
  const std::optional<std::filesystem::path> named = world_path_from_environment();
  if (named && profiles.empty()) return SimWorld::open(*named);
  if (profiles.empty())
    return fail(ErrorCode::invalid_argument, "no simulated GPU is named and RUBATO_SIM_WORLD is not set",
                "name one: --gpu sim:v100");
  const Result<std::filesystem::path> path =
      named ? Result<std::filesystem::path>(*named) : default_world_path(profiles);
  if (!path) return fail(path.error());
  const Result<Scenario> scenario = scenario_from_environment();
  if (!scenario) return fail(scenario.error());
  Result<std::unique_ptr<SimWorld>> world =
      SimWorld::open_or_create(*path, profiles, *scenario, default_rights);
  if (!world && world.error().what.starts_with(kScenarioMisfit))
    return fail(blame_environment(world.error()));
  return world;
}

Status reset_world(const std::filesystem::path& path) {
  if (::unlink(path.c_str()) == 0) return {};
  if (errno == ENOENT)
    return fail(ErrorCode::not_found, cat("there is no simulated world at ", path.string()));
  return fail(from_errno(errno, cat("cannot remove the simulated world ", path.string())));
}

}  // namespace rubato::device::sim
