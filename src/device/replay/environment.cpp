#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/runtime_folder.h"
#include "base/text.h"
#include "device/replay/new_world.h"
#include "device/replay/scenario.h"
#include "device/replay/world.h"

namespace rubato::device::replay {
namespace {

/// Named by what is replayed, so that an edited table is another world.
Result<std::filesystem::path> default_world_path(std::span<const ReplaySource> sources) {
  const Result<std::filesystem::path> folder = default_world_folder();
  if (!folder) return fail(folder.error());
  std::string what;
  for (const ReplaySource& source : sources) {
    const Result<std::string> text = source_text(source);
    if (!text) return fail(text.error());
    what += cat(source.iteration ? number(source.iteration->value()) : std::string(), "\n", *text);
  }
  return *folder / (digest(what) + ".world");
}

}  // namespace

std::optional<std::filesystem::path> world_path_from_environment() {
  const char* path = std::getenv("RUBATO_REPLAY_WORLD");
  if (path == nullptr || *path == '\0') return std::nullopt;
  return std::filesystem::path(path);
}

Result<std::filesystem::path> default_world_folder() {
  const Result<std::filesystem::path> runtime = runtime_folder();
  if (!runtime) return fail(runtime.error());
  return private_folder(*runtime / "replay");
}

Result<std::unique_ptr<ReplayWorld>> open_world_from_environment(std::span<const ReplaySpec> specs) {
  const std::optional<std::filesystem::path> named = world_path_from_environment();
  if (named && specs.empty()) return ReplayWorld::open(*named);
  if (specs.empty())
    return fail(ErrorCode::invalid_argument, "no table is named and RUBATO_REPLAY_WORLD is not set",
                "name one: --gpu replay:FILE#WORKLOAD");
  std::vector<ReplaySource> sources;
  for (const ReplaySpec& spec : specs) {
    Result<ReplaySource> source = load(spec);
    if (!source) return fail(source.error());
    sources.push_back(std::move(*source));
  }
  const Result<ReplayOptions> options = scenario_from_environment();
  if (!options) return fail(options.error());
  const Result<std::filesystem::path> path =
      named ? Result<std::filesystem::path>(*named) : default_world_path(sources);
  if (!path) return fail(path.error());
  return ReplayWorld::open_or_create(*path, sources, *options);
}

Status reset_world(const std::filesystem::path& path) {
  if (::unlink(path.c_str()) == 0) return {};
  if (errno == ENOENT)
    return fail(ErrorCode::not_found, cat("there is no world of replayed GPUs at ", path.string()));
  return fail(from_errno(errno, cat("cannot remove the world of replayed GPUs ", path.string())));
}

}  // namespace rubato::device::replay
