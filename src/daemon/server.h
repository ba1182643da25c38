// The loop around the core: sockets, the GPUs' owners, signals, and what the machine says. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "base/clock.h"
#include "daemon/core.h"
#include "daemon/listener.h"
#include "daemon/user_shares.h"

namespace rubato::daemon {

struct ServerOptions {
  std::filesystem::path disable_file;
  FsRoot root{};
  std::shared_ptr<const Clock> clock;  // that leases live on
  std::function<Result<Rules>()> read_rules;
};

enum class Ended {
  clean,    // no GPU is left changed
  changed,  // one is: its driver refuses
  stuck,    // a driver has not come back: leave without waiting for its thread
};

class Server {
 public:
  /// `signals`: of guard::ending_signals().
  Server(ServerOptions options, Listener listener, ScopedFd signals, std::shared_ptr<Mailbox> mailbox);

  /// Until a signal, or the disable file, asks for the end.
  [[nodiscard]] Ended run(Core& core);

 private:
  struct Connection {
    ScopedFd socket;
    uid_t uid = 0;
    RateLimit messages;
    bool paused = false;
    TimePoint until{};  // of the pause
  };

  void watch(int fd, std::uint64_t id, std::uint32_t events, int operation) const;
  void let_in(Core& core);
  void read_from(Core& core, std::uint64_t id);
  void resume();
  void drop(Core& core, std::uint64_t id);
  void send_all(Core& core);
  void look_around(Core& core);
  bool take_signals(Core& core);
  void tell_manager(const Core& core);
  [[nodiscard]] bool may_enter(const Core& core, uid_t uid) const;

  ServerOptions options_;
  Listener listener_;
  ScopedFd signals_;
  std::shared_ptr<Mailbox> mailbox_;
  ScopedFd epoll_;
  RealClock wall_;
  std::map<std::uint64_t, Connection> connections_;
  UserShares users_;
  std::uint64_t last_id_;
  Surroundings surroundings_;
  TimePoint begun_;
  TimePoint next_never_{};
  TimePoint next_sign_{};
  bool ready_told_ = false;
  std::size_t most_connections_;  // that this process's files allow
};

}  // namespace rubato::daemon
