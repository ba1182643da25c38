#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>

namespace rubato::log {
namespace {

std::atomic<Level> g_level{Level::info};

// One write per line: lines of rubato and of the job do not cut each other in two.
void put(Level level, std::string_view kind, std::string_view message) {
  if (message.empty() || g_level.load() < level) return;
  std::string line = "rubato: ";
  if (!kind.empty()) line.append(kind).append(": ");
  line.append(message).append("\n");
  while (::write(STDERR_FILENO, line.data(), line.size()) < 0 && errno == EINTR) {
  }
}

}  // namespace

void set_level(Level level) {
  g_level = level;
}
Level level() {
  return g_level;
}

void error(const Error& error) {
  put(Level::error, "error", error.what);
  put(Level::error, "hint", error.hint);
}
void warning(std::string_view message) {
  put(Level::warning, "warning", message);
}
void warning(const Error& error) {
  put(Level::warning, "warning", error.what);
  put(Level::warning, "hint", error.hint);
}
void info(std::string_view message) {
  put(Level::info, "", message);
}
void debug(std::string_view message) {
  put(Level::debug, "debug", message);
}

}  // namespace rubato::log
