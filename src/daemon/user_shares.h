// How much of what its clients send the loop reads, by user: one may have many connections, and nobody else
// waits for a flood on all of them.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/clock.h"
#include "daemon/rate_limit.h"

namespace rubato::daemon {

/// Messages of a connection in one turn of the loop.
inline constexpr unsigned kMostRead = 16;
/// Of a user beyond the first of each connection, which is always read: where rubatod itself was stopped,
/// heartbeats lie in the sockets, and each has to be heard before a lease counts as silent.
inline constexpr unsigned kMostReadOfUser = 32;
/// A user over their rate is let be for so long: to wake for each message would cost more than it.
inline constexpr Seconds kUserPause{0.05};

class UserShares {
 public:
  void begin_turn(TimePoint now) {
    for (auto user = users_.begin(); user != users_.end();) {
      user->second.read = 0;
      // Not before its rate is whole again: who comes back gets no second one.
      const bool over = user->second.connections == 0 && now - user->second.left_at > Seconds(2);
      user = over ? users_.erase(user) : std::next(user);
    }
  }

  void came(uid_t uid, double messages_per_s, TimePoint now) {
    User& user = users_.try_emplace(uid, User{RateLimit(messages_per_s, now), messages_per_s}).first->second;
    if (user.per_s != messages_per_s) {  // the rules were read anew
      user.messages = RateLimit(messages_per_s, now);
      user.per_s = messages_per_s;
    }
    ++user.connections;
  }
  void left(uid_t uid, TimePoint now) {
    User& user = users_.at(uid);
    --user.connections;
    user.left_at = now;
  }
  [[nodiscard]] unsigned connections(uid_t uid) const {
    const auto user = users_.find(uid);
    return user == users_.end() ? 0 : user->second.connections;
  }

  /// Whether this turn reads one more message of a connection of which it has read so many.
  [[nodiscard]] bool in_turn(uid_t uid, unsigned read) const {
    return read == 0 || (read < kMostRead && users_.at(uid).read < kMostReadOfUser);
  }
  /// Now, or when. Root harms itself alone.
  [[nodiscard]] TimePoint next(uid_t uid, TimePoint now) {
    if (uid == 0) return now;
    const TimePoint next = users_.at(uid).messages.next(now);
    return next > now ? std::max(next, now + kUserPause) : now;
  }
  void was_read(uid_t uid, unsigned read, TimePoint now) {
    User& user = users_.at(uid);
    (void)user.messages.take(now);
    if (read > 0) ++user.read;
  }

 private:
  struct User {
    RateLimit messages;
    double per_s = 0;
    unsigned connections = 0;
    unsigned read = 0;  // in this turn
    TimePoint left_at{};
  };
  std::map<uid_t, User> users_;
};

}  // namespace rubato::daemon
