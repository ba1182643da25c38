#include "exporter/report_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/fd.h"
#include "base/text.h"

namespace rubato::exporter {
namespace {

// A day of eight GPUs at ten readings a second makes 15 MB.
constexpr std::size_t kLargestPage = 256U << 20U;
constexpr std::size_t kLongestComplaint = 4096;
constexpr int kLookMs = 200;
constexpr int kNicer = 10;

struct Pipe {
  ScopedFd reading;
  ScopedFd writing;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return fail(from_errno(errno, "no pipe can be made"));
  return Pipe{ScopedFd(ends[0]), ScopedFd(ends[1])};
}

class SpawnSetup {
 public:
  SpawnSetup() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    // The signals that end this program are blocked here, and have to end that one.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  ~SpawnSetup() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  void duplicate(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// Ended and waited for, however this is left.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    static_cast<void>(status());
  }
  [[nodiscard]] int status() {
    int status = -1;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_;
};

/// False at the end of it.
bool take(const ScopedFd& from, std::string& to, std::size_t most) {
  std::array<char, 65536> buffer{};
  const ssize_t got = read(from.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (got <= 0) return false;
  to.append(buffer.data(), std::min(static_cast<std::size_t>(got), most - std::min(most, to.size())));
  return true;
}

Error late() {
  return {ErrorCode::timeout, "the report took too long", "rubato export RUN --format html -o report.html"};
}

/// What the child writes, until it has closed both.
Status collect(const ScopedFd& page_from, const ScopedFd& complaint_from, std::string& page,
               std::string& complaint, const std::atomic<bool>& ending, Seconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience.value());
  std::array<pollfd, 2> waiting{{{page_from.get(), POLLIN, 0}, {complaint_from.get(), POLLIN, 0}}};
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    if (ending || std::chrono::steady_clock::now() > deadline) return fail(late());
    if (poll(waiting.data(), waiting.size(), kLookMs) <= 0) continue;
    if (waiting[0].revents != 0 && !take(page_from, page, kLargestPage)) waiting[0].fd = -1;
    if (waiting[1].revents != 0 && !take(complaint_from, complaint, kLongestComplaint)) waiting[1].fd = -1;
    if (page.size() >= kLargestPage)
      return fail(ErrorCode::io, "the report is larger than a browser is served here",
                  "rubato export RUN --format html -o report.html");
  }
  return {};
}

}  // namespace

std::filesystem::path rubato_program() {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = own.parent_path() / "rubato";
  return !error && access(beside.c_str(), X_OK) == 0 ? beside : std::filesystem::path("rubato");
}

Result<std::string> exported_report(const std::filesystem::path& program, const std::filesystem::path& record,
                                    const std::atomic<bool>& ending, Seconds patience) {
  auto out = make_pipe();
  auto err = make_pipe();
  if (!out || !err) return fail(out ? err.error() : out.error());
  SpawnSetup setup;
  setup.duplicate(out->writing.get(), STDOUT_FILENO);
  setup.duplicate(err->writing.get(), STDERR_FILENO);
  std::array<std::string, 5> words{program.string(), "export", record.string(), "--format", "html"};
  std::array<char*, 6> arguments{words[0].data(), words[1].data(), words[2].data(),
                                 words[3].data(), words[4].data(), nullptr};
  pid_t pid = 0;
  if (const int code = posix_spawnp(&pid, words[0].c_str(), setup.actions(), setup.attributes(),
                                    arguments.data(), environ);
      code != 0)
    return fail(ErrorCode::not_found,
                cat("cannot start ", words[0], " to make the report: ", std::strerror(code)),
                "rubato has to be installed beside rubato-exporter, or in its PATH");
  Child child(pid);
  setpriority(PRIO_PROCESS, static_cast<id_t>(pid), kNicer);  // behind the job that is being watched
  out->writing.reset();
  err->writing.reset();
  std::string page;
  std::string complaint;
  if (const Status read = collect(out->reading, err->reading, page, complaint, ending, patience); !read)
    return fail(read.error());
  const int status = child.status();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !page.empty()) return page;
  return fail(ErrorCode::io,
              cat("rubato export failed: ", complaint.empty() ? "it said nothing" : trim(complaint)),
              cat("rubato export ", record.string(), " --format html"));
}

}  // namespace rubato::exporter
