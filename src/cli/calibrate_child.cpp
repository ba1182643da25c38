#include "cli/calibrate_child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/fd.h"
#include "base/text.h"
#include "base/unnamed_file.h"
#include "cli/records.h"

namespace rubato::cli {
namespace {

/// Whoever the child becomes, it may write there.
Result<ScopedFd> file_for(const char* name) {
  ScopedFd file = unnamed_file(name, 0);
  if (!file.is_open()) return fail(from_errno(errno, cat("no memory for the output of a run (", name, ")")));
  return file;
}

std::string content_of(const ScopedFd& file) {
  std::string out;
  char buffer[4096];
  off_t at = 0;
  for (;;) {
    const ssize_t got = ::pread(file.get(), buffer, sizeof buffer, at);
    if (got <= 0) return out;
    out.append(buffer, static_cast<std::size_t>(got));
    at += got;
  }
}

volatile std::sig_atomic_t g_interrupted = 0;
void note_interrupt(int) {
  g_interrupted = 1;
}

/// While it lives, Ctrl-C is the child's, and noted.
class Interrupts {
 public:
  Interrupts() {
    g_interrupted = 0;
    struct sigaction action {};
    action.sa_handler = &note_interrupt;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, &before_);
  }
  ~Interrupts() { sigaction(SIGINT, &before_, nullptr); }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  struct sigaction before_ {};
};

class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  void duplicate(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

Result<record::RunRecord> recorded(const std::string& report) {
  const auto json = nlohmann::json::parse(report, nullptr, false);
  if (!json.is_object() || !json.contains("run_id") || !json["run_id"].is_string())
    return fail(ErrorCode::unavailable, "the run made no report");
  const auto file = find_record(json["run_id"].get<std::string>());
  if (!file) return fail(file.error());
  return record::read_run(*file);
}

}  // namespace

std::string own_program() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

Result<ChildRun> run_measured(std::vector<std::string> arguments, const std::vector<std::string>& command) {
  auto report = file_for("report");
  if (!report) return fail(report.error());
  auto output = file_for("output");
  if (!output) return fail(output.error());
  auto messages = file_for("messages");
  if (!messages) return fail(messages.error());

  arguments.insert(arguments.begin(), own_program());
  for (std::string& word :
       std::vector<std::string>{"--quiet", "--json", "--report", cat("fd:", report->get()), "--"})
    arguments.push_back(std::move(word));
  arguments.insert(arguments.end(), command.begin(), command.end());
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);

  const Interrupts interrupts;
  SpawnActions actions;
  actions.duplicate(output->get(), STDOUT_FILENO);
  actions.duplicate(messages->get(), STDERR_FILENO);
  pid_t child = 0;
  if (const int code = posix_spawn(&child, words[0], actions.get(), nullptr, words.data(), environ);
      code != 0)
    return fail(from_errno(code, cat("cannot start ", arguments.front())));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ChildRun out;
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  out.interrupted = g_interrupted != 0;
  out.output = content_of(*output);
  out.messages = content_of(*messages);
  out.record = recorded(content_of(*report));
  return out;
}

}  // namespace rubato::cli
