// Messages for the person at the terminal, on standard error; standard output belongs to the job or the
// report.
#pragma once

#include <string_view>

#include "base/result.h"

namespace rubato::log {

enum class Level { quiet, error, warning, info, debug };

void set_level(Level level);
/// For a service that others wait for: a line whose reader does not keep up is dropped and counted, and the
/// number told with the next that is written.
void drop_what_would_wait();
[[nodiscard]] Level level();

void error(const Error& error);  // "rubato: error: WHAT" and "rubato: hint: HINT"
void warning(std::string_view message);
void warning(const Error& error);
void info(std::string_view message);
void debug(std::string_view message);

}  // namespace rubato::log
