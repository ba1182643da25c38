// A simulated world of its own for one command, faster than the wall, which goes away with it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace rubato::cli {

class ScratchWorld {
 public:
  /// At `rate` simulated seconds a second; from here on this process and its children are in it. Nothing
  /// where the user named a world or a scenario, or the GPUs are not simulated.
  [[nodiscard]] static Result<std::optional<ScratchWorld>> make(const std::string& gpus, double rate);
  ~ScratchWorld();
  ScratchWorld(ScratchWorld&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  ScratchWorld& operator=(ScratchWorld&&) = delete;

 private:
  explicit ScratchWorld(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

}  // namespace rubato::cli
