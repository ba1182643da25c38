// A terminal while a program draws on all of it, and as it was before again, whatever ends the program but
// SIGKILL.
#pragma once

#include <termios.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "cli/top/screen.h"

namespace rubato::cli::top {

class Terminal {
 public:
  /// The terminal behind `fd`, by a description of its own: writing to it never waits, and nobody else's does
  /// not either. not_supported: `fd` is no terminal, or it cannot be opened.
  [[nodiscard]] static Result<Terminal> open(int fd);
  Terminal(Terminal&&) = default;
  Terminal& operator=(Terminal&&) = delete;
  /// leave()
  ~Terminal();

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] Size size() const;
  /// False while another job of the shell has the terminal: nothing may be changed then.
  [[nodiscard]] bool foreground() const;

  [[nodiscard]] bool entered() const { return found_.has_value(); }
  /// Keys come one by one and are not shown; Ctrl-C and Ctrl-Z stay signals. What is fatal (SIGSEGV, SIGABRT
  /// and the like) puts the terminal back first.
  Status enter();
  /// As it was before enter(). Waits half a second at most for a terminal that takes nothing.
  void leave();

  /// Begins to send a frame, with one write where the terminal takes it whole.
  void send(std::string frame);
  /// True while part of a frame has not been taken: no new one may be begun.
  [[nodiscard]] bool busy() const { return sent_ < pending_.size(); }
  /// Goes on where the terminal is ready for more.
  void go_on();
  /// What was typed, empty where nothing was; absent: the terminal is gone.
  [[nodiscard]] std::optional<std::string> read_keys() const;

 private:
  explicit Terminal(ScopedFd fd) : fd_(std::move(fd)) {}
  ScopedFd fd_;
  std::optional<termios> found_;
  std::string pending_;
  std::size_t sent_ = 0;
};

}  // namespace rubato::cli::top
