#include "cli/evidence_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/log.h"
#include "base/text.h"
#include "base/unnamed_file.h"
#include "cli/gpus.h"
#include "cli/sweep_child.h"

namespace rubato::cli {
namespace {

using experiment::Glance;

// Ten times as often as most sensors are refreshed, and a tenth of the fastest clock changes that were
// measured.
constexpr Seconds kPace{0.01};
// A simulated world may be much faster than the wall: it is not worth a whole core.
constexpr int kLeastWaitMs = 2;
constexpr auto kLongestEnd = std::chrono::seconds(5);

template <class Quantity>
std::string cell(const std::optional<Quantity>& quantity) {
  return quantity ? number(quantity->value()) : std::string();
}

template <class Quantity>
std::optional<Quantity> quantity(std::string_view cell) {
  const auto value = parse_number(cell);
  return value ? std::optional(Quantity(*value)) : std::nullopt;
}

[[noreturn]] void watch(const std::string& gpu_list, int alive, int seen) {
  log::set_level(log::Level::quiet);
  const auto open = open_gpus(gpu_list);
  if (!open || open->gpus.size() != 1) _exit(1);
  device::Gpu& gpu = *open->gpus.front();
  const Clock& clock = *open->selection.backend->clock();
  const int wait = std::max(kLeastWaitMs, static_cast<int>(clock.wall(kPace).value() * 1e3));
  std::string lines;
  for (;;) {
    pollfd end{alive, POLLIN, 0};
    if (poll(&end, 1, wait) > 0) break;
    const auto slow = gpu.read_slow();
    const auto fast = gpu.read_fast();
    if (!slow || !fast) continue;
    lines += cat(slow->at.ns, ",", cell(slow->sm_clock), ",", cell(fast->power), ",",
                 cell(slow->requested_limit), "\n");
    if (lines.size() < 4096) continue;
    say_all(seen, lines);
    lines.clear();
  }
  say_all(seen, lines);
  _exit(0);
}

std::vector<Glance> parse(std::string_view text) {
  std::vector<Glance> out;
  for (const std::string& line : split(text, '\n')) {
    const auto cells = split(line, ',');
    if (cells.size() != 4) continue;
    const auto at = parse_integer(cells[0]);
    if (!at) continue;
    out.push_back({TimePoint{*at}, quantity<Megahertz>(cells[1]), quantity<Watts>(cells[2]),
                   quantity<Watts>(cells[3])});
  }
  return out;
}

}  // namespace

Result<EvidenceWatch> EvidenceWatch::start(const std::string& gpu_list) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return fail(from_errno(errno, "no pipe to a watcher"));
  ScopedFd theirs(ends[0]);
  ScopedFd ours(ends[1]);
  ScopedFd seen = unnamed_file("seen", MFD_CLOEXEC);
  if (!seen.is_open()) return fail(from_errno(errno, "no memory for what a watcher sees"));
  const pid_t child = fork();
  if (child < 0) return fail(from_errno(errno, "cannot start a watcher"));
  if (child == 0) {
    ours.reset();
    watch(gpu_list, theirs.get(), seen.get());
  }
  return EvidenceWatch(child, std::move(ours), std::move(seen));
}

EvidenceWatch::~EvidenceWatch() {
  if (alive_.is_open()) static_cast<void>(stop());
}

std::vector<Glance> EvidenceWatch::stop() {
  alive_.reset();
  const auto patience = std::chrono::steady_clock::now() + kLongestEnd;
  // Only a driver that hangs makes it late: then what it has written is all there is.
  while (waitpid(child_, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > patience) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::string text;
  std::array<char, 1 << 16> buffer{};
  for (;;) {
    const ssize_t got = pread(seen_.get(), buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return parse(text);
}

}  // namespace rubato::cli
