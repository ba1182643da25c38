#include "cli/scratch_world.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "record/location.h"

namespace rubato::cli {

Result<std::optional<ScratchWorld>> ScratchWorld::make(const std::string& gpus, double rate) {
  const bool named =
      std::getenv("RUBATO_SIM_WORLD") != nullptr || std::getenv("RUBATO_SIM_SCENARIO") != nullptr;
  if (named || !gpus.starts_with("sim:")) return std::optional<ScratchWorld>();
  auto folder = record::make_scratch_folder(std::filesystem::temp_directory_path());
  if (!folder) return fail(folder.error());
  ScratchWorld world(*folder);
  std::ofstream(*folder / "scenario.json") << nlohmann::json{{"rate", rate}};
  setenv("RUBATO_SIM_SCENARIO", (*folder / "scenario.json").c_str(), 1);
  setenv("RUBATO_SIM_WORLD", (*folder / "world").c_str(), 1);
  return std::optional<ScratchWorld>(std::move(world));
}

ScratchWorld::~ScratchWorld() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

}  // namespace rubato::cli
