// A command run once more at a setting, as `rubato run` does it: guarded, and put back.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "cli/invocation.h"
#include "predict/curve.h"

namespace rubato::cli {

/// The record of that run. Errors: what `rubato run` refused (it has said so itself), and a command that
/// failed.
[[nodiscard]] Result<std::filesystem::path> run_at(const predict::KnobPoint& at,
                                                   const Invocation& invocation);

}  // namespace rubato::cli
