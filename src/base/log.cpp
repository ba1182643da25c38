#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <string>

#include "base/standard_streams.h"
#include "base/text.h"

namespace rubato::log {
namespace {

std::atomic<Level> g_level{Level::info};
std::atomic<bool> g_drop{false};
std::atomic<unsigned> g_dropped{0};

// Of a line that must not wait: what is said of those that were dropped fits behind it.
constexpr std::size_t kMostKept = PIPE_BUF / 2;

std::size_t whole_characters(std::string_view text, std::size_t end) {
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return end;
}

void write_line(std::string line) {
  line += '\n';
  while (::write(STDERR_FILENO, line.data(), line.size()) < 0 && errno == EINTR) {
  }
}

// One write per line: lines of rubato and of the job do not cut each other in two.
void put(Level level, std::string_view kind, std::string_view message) {
  if (message.empty() || g_level.load() < level) return;
  std::string line = "rubato: ";
  if (!kind.empty()) line.append(kind).append(": ");
  line.append(message);
  if (g_drop) {
    if (!takes_a_line(STDERR_FILENO)) {
      ++g_dropped;
      return;
    }
    if (line.size() > kMostKept) line = cat(line.substr(0, whole_characters(line, kMostKept)), "…");
    if (const unsigned lost = g_dropped.exchange(0); lost > 0)
      line.append(" (before this, ")
          .append(std::to_string(lost))
          .append(" lines that nobody read were dropped)");
  }
  write_line(std::move(line));
}

}  // namespace

void set_level(Level level) {
  g_level = level;
}
void drop_what_would_wait() {
  g_drop = true;
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
