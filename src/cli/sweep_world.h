// A simulated world of a sweep's own, in which time runs faster than the wall.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rubato::cli {

/// Simulated seconds in one of the wall. Many whole runs have to be waited for; more than this is too fast
/// for trainer, sampler and guard on two busy cores.
inline constexpr double kSweepRate = 20;

/// For "sim:…" where the user names neither a world nor a scenario: makes (or finds) the world of the sweep
/// that `key` stands for and names it to this process and its children. Nothing else.
[[nodiscard]] Result<std::optional<std::filesystem::path>> own_world(std::string_view gpu_list,
                                                                     std::string_view key);

}  // namespace rubato::cli
