#include "cli/top/live.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "cli/top/draw.h"

namespace rubato::cli::top {
namespace {

// Escape alone looks like the beginning of a key's sequence for so long.
constexpr Seconds kEscape{0.5};
// How often it is looked whether the driver still answers, and whether the terminal is ours again.
constexpr int kLookMs = 1000;
constexpr int kWhileKeysWaitMs = 100;

ScopedFd signal_descriptor() {
  const sigset_t set = watched_signals();
  return ScopedFd(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

/// One signal that came; 0: none.
int next_signal(const ScopedFd& signals) {
  signalfd_siginfo info{};
  return read(signals.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)
             ? static_cast<int>(info.ssi_signo)
             : 0;
}

class Watch {
 public:
  Watch(Terminal terminal, Reader& reader, const TerminalLooks& looks)
      : terminal_(std::move(terminal)), reader_(reader), looks_(looks), signals_(signal_descriptor()) {}

  Ended run() {
    while (!ended_) {
      take_terminal();
      if (draw_ && state_ && terminal_.entered() && !terminal_.busy()) draw_frame();
      wait();
    }
    terminal_.leave();
    return *ended_;
  }

 private:
  /// Where the shell has given it to another job, nothing is touched until it comes back.
  void take_terminal() {
    if (terminal_.entered() || !terminal_.foreground()) return;
    if (!terminal_.enter()) ended_ = Ended{SIGHUP};
    draw_all();
  }

  void draw_all() {
    shown_.reset();
    draw_ = true;
  }

  void draw_frame() {
    State state = *state_;
    state.stuck = reader_.stuck(RealClock().now());
    const Size size = terminal_.size();
    Screen next = draw(state, view_, size);
    terminal_.send(changes(shown_, next, looks_));
    shown_ = std::move(next);
    draw_ = false;
  }

  void wait() {
    const bool ours = terminal_.entered();
    const short wanted = terminal_.busy() ? POLLIN | POLLOUT : POLLIN;
    std::array<pollfd, 3> ready = {pollfd{signals_.get(), POLLIN, 0}, pollfd{reader_.fd(), POLLIN, 0},
                                   pollfd{ours ? terminal_.fd() : -1, wanted, 0}};
    const int count = poll(ready.data(), ready.size(), keys_.waits() ? kWhileKeysWaitMs : kLookMs);
    if (count == 0) look_at_driver();
    if ((ready[0].revents & POLLIN) != 0) take_signals();
    if ((ready[1].revents & POLLIN) != 0) {
      state_ = reader_.take();
      // What is frozen does not change.
      draw_ = draw_ || !view_.frozen || view_.help;
    }
    if ((ready[2].revents & POLLOUT) != 0) terminal_.go_on();
    if ((ready[2].revents & (POLLIN | POLLHUP | POLLERR)) != 0) take_keys();
    // Readings may come more often than that: what counts is the time since the last key.
    if (keys_.waits() && RealClock().now() - typed_ >= kEscape) {
      std::vector<KeyPress> pressed;
      keys_.nothing_followed(pressed);
      use(pressed);
    }
  }

  void look_at_driver() {
    if (!reader_.stuck(RealClock().now())) return;
    if (!state_) state_ = std::make_shared<const State>();
    draw_ = true;
  }

  void take_keys() {
    const auto typed = terminal_.read_keys();
    if (!typed) {
      ended_ = Ended{SIGHUP};
      return;
    }
    typed_ = RealClock().now();
    std::vector<KeyPress> pressed;
    keys_.read(*typed, pressed);
    use(pressed);
  }

  void use(const std::vector<KeyPress>& pressed) {
    const State nothing;
    for (const KeyPress& key : pressed) {
      const std::size_t rows = terminal_.size().rows;
      switch (press(view_, key, state_ ? *state_ : nothing, std::max<std::size_t>(rows / 2, 1))) {
        case Outcome::quit:
          ended_ = Ended{};
          return;
        case Outcome::draw_all:
          draw_all();
          break;
        case Outcome::draw:
          draw_ = true;
          break;
        case Outcome::nothing:
          break;
      }
    }
  }

  void take_signals() {
    while (const int signal = next_signal(signals_)) {
      switch (signal) {
        case SIGINT:
          ended_ = Ended{};
          break;
        case SIGTERM:
        case SIGHUP:
        case SIGQUIT:
          ended_ = Ended{signal};
          break;
        case SIGTSTP:
          terminal_.leave();
          raise(SIGSTOP);
          break;
        case SIGCONT:
        case SIGWINCH:
          // Meanwhile the shell had the terminal, and set its own modes.
          if (signal == SIGCONT) terminal_.leave();
          draw_all();
          break;
        default:
          break;
      }
    }
  }

  Terminal terminal_;
  Reader& reader_;
  TerminalLooks looks_;
  ScopedFd signals_;
  KeyReader keys_;
  TimePoint typed_;
  View view_;
  std::shared_ptr<const State> state_;
  std::optional<Screen> shown_;
  bool draw_ = true;
  std::optional<Ended> ended_;
};

}  // namespace

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH, SIGTTIN, SIGTTOU})
    sigaddset(&set, signal);
  return set;
}

Ended watch_on_terminal(Terminal terminal, Reader& reader, const TerminalLooks& looks) {
  return Watch(std::move(terminal), reader, looks).run();
}

Ended watch_as_text(Reader& reader, const std::function<bool(const State&)>& tell) {
  const ScopedFd signals = signal_descriptor();
  for (;;) {
    std::array<pollfd, 2> ready = {pollfd{signals.get(), POLLIN, 0}, pollfd{reader.fd(), POLLIN, 0}};
    poll(ready.data(), ready.size(), -1);
    while (const int signal = next_signal(signals)) {
      if (signal == SIGINT) return {};
      if (signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT) return {signal};
      if (signal == SIGTSTP) raise(SIGSTOP);
    }
    if ((ready[1].revents & POLLIN) == 0) continue;
    if (const auto state = reader.take(); state && !tell(*state)) return {};
  }
}

}  // namespace rubato::cli::top
