#include "cli/forecast_child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace rubato::cli {

void tell_forecast(const std::filesystem::path& record) {
  const std::string file = record.string();
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) {
    // A grandchild belongs to init, so nobody here has to wait for it. Only async-signal-safe calls until
    // exec: other threads may hold any lock.
    if (fork() != 0) _exit(0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    execl("/proc/self/exe", "rubato", "show", file.c_str(), "--forecast", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
}

}  // namespace rubato::cli
