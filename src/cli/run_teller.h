// Tells whoever watches (`rubato top`) how a run stands, by a file in the run's folder.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "record/run_state.h"
#include "record/types.h"

namespace rubato::cli {

/// For SessionParts::state. What cannot be written is not told: nobody depends on it.
[[nodiscard]] std::function<void(record::RunState)> tell_run_state(const std::filesystem::path& folder,
                                                                   const record::RunInfo& info,
                                                                   const std::string& gpu_list,
                                                                   std::optional<pid_t> job);

}  // namespace rubato::cli
