// The forecast of a run that goes on, told by a process of its own: reading a long record takes seconds and
// memory that the one that measures must not spend.
#pragma once

#include <filesystem>

namespace rubato::cli {

/// Starts `rubato show RECORD --forecast` with its output on standard error and does not wait for it.
void tell_forecast(const std::filesystem::path& record);

}  // namespace rubato::cli
