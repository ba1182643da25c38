#include "cli/terminal_kind.h"

#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string_view>

namespace rubato::cli {
namespace {

/// Absent: not set, or set to nothing.
std::optional<std::string_view> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace

bool obeys_sequences(int fd) {
  if (isatty(fd) != 1) return false;
  const char* term = std::getenv("TERM");
  // A terminal nobody named is most likely one of today's.
  return term == nullptr || (*term != '\0' && std::string_view(term) != "dumb");
}

bool wants_colour(int fd) {
  if (variable("NO_COLOR")) return false;
  if (const auto force = variable("CLICOLOR_FORCE"); force && *force != "0") return true;
  return obeys_sequences(fd) && variable("CLICOLOR") != "0";
}

}  // namespace rubato::cli
