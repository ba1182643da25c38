// What one user's connections may take of the loop, in virtual time: every message costs some of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "daemon/user_shares.h"

namespace rubato::daemon {
namespace {

constexpr uid_t kHonest = 1000;
constexpr uid_t kHostile = 1001;
constexpr Seconds kCost{2e-4};  // of a message as long as is legal
constexpr double kRate = 2000;

/// The loop, beside connections that always have one more message.
class Loop {
 public:
  explicit Loop(int hostile, uid_t uid = kHostile) : uid_(uid), paused_(static_cast<std::size_t>(hostile)) {
    for (int i = 0; i < hostile; ++i) shares.came(uid, kRate, now);
    shares.came(kHonest, kRate, now);
  }
  void turn() {
    shares.begin_turn(now);
    for (TimePoint& until : paused_) {
      for (unsigned i = 0; now >= until && shares.in_turn(uid_, i); ++i) {
        const TimePoint next = shares.next(uid_, now);
        if (next > now) {
          until = next;
          break;
        }
        shares.was_read(uid_, i, now);
        ++read;
        now = now + kCost;
      }
    }
    now = now + Seconds(1e-3);  // the rest of a turn, or waiting for something to do
  }

  UserShares shares;
  TimePoint now{};
  int read = 0;

 private:
  uid_t uid_;
  std::vector<TimePoint> paused_;
};

TEST(UserShares, WhoIsHonestWaitsNoLongerThanATurnWhateverAnotherUserSends) {
  Loop loop(64);
  Seconds longest{0};
  while (loop.now < TimePoint{} + Seconds(20)) {
    const TimePoint sent = loop.now;
    loop.turn();
    longest = std::max(longest, loop.now - sent);
    ASSERT_TRUE(loop.shares.in_turn(kHonest, 0) && loop.shares.next(kHonest, loop.now) == loop.now);
    loop.shares.was_read(kHonest, 0, loop.now);
  }
  EXPECT_LT(longest, kCost * (64 + kMostReadOfUser + 1) + Seconds(1e-3));
  EXPECT_LE(loop.read, kRate * 22 + 1) << "the rate, and two seconds of it at the beginning";
  EXPECT_GE(loop.read, kRate * 18) << "and not much less";
}

TEST(UserShares, OneMessageOfEveryConnectionIsReadInATurn) {
  UserShares shares;
  for (int i = 0; i < 200; ++i) shares.came(kHonest, kRate, {});
  shares.begin_turn({});
  for (int connection = 0; connection < 200; ++connection)
    for (unsigned i = 0; i < 2; ++i) {
      if (i > 0 && !shares.in_turn(kHonest, i)) break;
      ASSERT_TRUE(shares.in_turn(kHonest, i)) << connection;
      shares.was_read(kHonest, i, {});
    }
}

TEST(UserShares, WhoComesBackGetsNoSecondBurst) {
  UserShares shares;
  TimePoint now{};
  int read = 0;
  for (int life = 0; life < 10; ++life) {
    shares.begin_turn(now);
    shares.came(kHostile, 100, now);
    for (; shares.next(kHostile, now) == now; ++read) shares.was_read(kHostile, 0, now);
    shares.left(kHostile, now);
    now = now + Seconds(0.1);
  }
  EXPECT_LE(read, 200 + 100);
  EXPECT_EQ(shares.connections(kHostile), 0U);
}

TEST(UserShares, RootHasNoRate) {
  Loop loop(8, 0);
  while (loop.now < TimePoint{} + Seconds(10)) loop.turn();
  EXPECT_GT(loop.read, kRate * 15);
}

}  // namespace
}  // namespace rubato::daemon
