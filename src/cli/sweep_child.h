// One step of a sweep in a process of its own: every run starts its guard before it touches a driver, and
// nothing of it is left when the next begins.
#pragma once

#include <csignal>
#include <functional>
#include <string>

#include "base/fd.h"

namespace rubato::cli {

/// Keeps Ctrl-C and its like from ending this process while it lives: what was measured has to be kept first.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const sigset_t& before() const { return before_; }
  /// Takes what came; `tell` is the process that has to hear of signals sent to this one alone (0: none). The
  /// terminal's reach the whole group by themselves.
  void take(pid_t tell);
  /// The signal that asks for an end, 0 as long as none does.
  [[nodiscard]] int asked_to_end() const { return asked_; }

 private:
  sigset_t before_{};
  ScopedFd fd_;
  int asked_ = 0;
};

struct ChildEnd {
  int status = 0;  // as a shell would give it: 128 + N after signal N
  std::string said;
};

/// `body` gets a descriptor to say something on and returns the status; it may start threads and die.
[[nodiscard]] ChildEnd in_child(Interrupts& interrupts, const std::function<int(int say)>& body);

/// The whole text, or as much as the reader takes.
void say_all(int fd, std::string_view text);

}  // namespace rubato::cli
