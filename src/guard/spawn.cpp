#include "guard/spawn.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/text.h"

namespace rubato::guard {
namespace {

constexpr int kCannotStart = 127;

[[noreturn]] void become(const SpawnOptions& options, char* const* arguments) {
  if (options.detached) {
    (void)::setsid();
    const int null = ::open("/dev/null", O_RDWR);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) (void)::dup2(null, fd);
    if (null > STDERR_FILENO) (void)::close(null);
  }
  if (options.stdin_fd >= 0) (void)::dup2(options.stdin_fd, STDIN_FILENO);
  if (options.keep_fd >= 0) (void)::fcntl(options.keep_fd, F_SETFD, 0);
  sigset_t none;
  ::sigemptyset(&none);
  (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvp(arguments[0], arguments);
  ::_exit(kCannotStart);
}

int wait_status(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return kCannotStart << 8U;
  }
  return status;
}

}  // namespace

Result<pid_t> spawn(const SpawnOptions& options) {
  // Built before the fork: the child only makes system calls.
  std::vector<std::string> words = options.command;
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return fail(from_errno(errno, "cannot start " + words.front()));
  if (child == 0) become(options, arguments.data());
  return child;
}

std::string wait_in_words(pid_t child) {
  const int status = wait_status(child);
  return WIFSIGNALED(status) ? cat("signal ", WTERMSIG(status)) : cat("exit status ", WEXITSTATUS(status));
}

bool wait_for_success(pid_t child) {
  const int status = wait_status(child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace rubato::guard
