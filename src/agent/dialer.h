// A member's end: finds the leader, and tries again where it cannot be reached. Passive, as the hub.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/seal.h"
#include "agent/sockets.h"
#include "base/clock.h"
#include "base/fd.h"

namespace rubato::agent {

struct DialerOptions {
  Seconds attempt{3};        // one address is tried for so long
  Seconds first_wait{0.25};  // between rounds of tries, twice as long each time
  Seconds longest_wait{10};
};

class Dialer {
 public:
  /// Where the leader may be, asked before each round: it may not have said so yet. Must not wait.
  using Where = std::function<std::vector<Address>()>;
  struct News {
    bool opened = false;  // the leader has shown that it knows the secret
    std::vector<std::string> messages;
    std::optional<Error> lost;  // after `messages`
  };

  [[nodiscard]] static Result<Dialer> create(const Secret& secret, Where where, const DialerOptions& options,
                                             TimePoint now);

  [[nodiscard]] int fd() const { return epoll_.get(); }
  [[nodiscard]] TimePoint next_due() const { return due_; }
  [[nodiscard]] News poll(TimePoint now);
  void send(std::string_view message);
  void hang_up(TimePoint now);
  /// Hangs up and never dials again.
  void give_up();
  [[nodiscard]] bool open() const { return stream_ && stream_->open(); }
  /// All that was sent has left this process.
  [[nodiscard]] bool sent() const { return out_.empty(); }
  /// Why the latest try failed, with what to do about it; absent before any did.
  [[nodiscard]] const std::optional<Error>& trouble() const { return trouble_; }

 private:
  Dialer(const Secret& secret, Where where, const DialerOptions& options, TimePoint now)
      : secret_(secret), where_(std::move(where)), options_(options), wait_(options.first_wait), due_(now) {}
  void dial(TimePoint now);
  void flush();
  void fail_with(const Error& why, TimePoint now);

  Secret secret_;
  Where where_;
  DialerOptions options_;
  ScopedFd epoll_;
  ScopedFd socket_;
  std::optional<SealedStream> stream_;
  std::string out_;
  std::vector<Address> round_;  // still to be tried
  std::string trying_;
  bool told_open_ = false;
  bool given_up_ = false;
  bool writing_ = true;
  Seconds wait_;
  TimePoint due_;
  std::optional<Error> trouble_;
};

}  // namespace rubato::agent
