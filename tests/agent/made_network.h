// The agents of one job in virtual time, on a network whose delays and losses are drawn.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "agent/leader.h"
#include "agent/member.h"
#include "base/random.h"
#include "base/text.h"

namespace rubato::agent {

inline Join made_join(std::int64_t rank, std::int64_t world) {
  return {.run = cat("run-", rank),
          .node = cat("node", rank),
          .rank = rank,
          .world = world,
          .covers = 1,
          .space = "an SM clock of 135 to 1380 MHz",
          .gpus = {GpuId{cat("GPU-", rank)}}};
}

struct NetworkOptions {
  Seconds delay{0.002};   // of a message, up to
  double slow_share = 0;  // of messages that take up to `slowest`: as TCP sends again what was lost
  Seconds slowest{0};
  std::optional<std::int64_t> slow_rank;  // only this one's link is slow; else all may be
  std::optional<bool> slow_down;          // only from (true) or only to (false) the leader
  double break_rate = 0;                  // per second and member: its connection ends and is made again
};

class MadeNetwork {
 public:
  MadeNetwork(NetworkOptions options, std::uint64_t seed, std::int64_t ranks)
      : options_(options), random_(seed), leader_(made_join(0, ranks), {}, now_) {
    for (std::int64_t rank = 1; rank < ranks; ++rank) {
      Rank& one = ranks_[rank];
      one.member = std::make_unique<Member>(made_join(rank, ranks), Timing{});
      connect(one);
    }
    schedule();
  }

  void run_until(TimePoint until) {
    while (due() < until) {
      now_ = std::max(now_, due());
      happen();
    }
    now_ = std::max(now_, until);
  }

  void kill(std::int64_t rank) {
    dead_.insert(rank);
    if (rank != 0) return drop(rank);
    for (auto& [other, one] : ranks_) drop(other);
  }
  [[nodiscard]] bool dead(std::int64_t rank) const { return dead_.contains(rank); }

  /// What a rank is at now.
  [[nodiscard]] Setting agreed(std::int64_t rank) const {
    return rank == 0 ? leader_.agreed() : ranks_.at(rank).member->agreed();
  }
  [[nodiscard]] std::optional<std::int64_t> switches_at(std::int64_t rank) const {
    return rank == 0 ? leader_.switches_at() : ranks_.at(rank).member->switches_at();
  }
  [[nodiscard]] Leader& leader() { return leader_; }
  [[nodiscard]] const Leader& leader() const { return leader_; }
  [[nodiscard]] Member& member(std::int64_t rank) { return *ranks_.at(rank).member; }
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] TimePoint now() const { return now_; }
  /// Commits that were sent while some member had not said yes to them.
  [[nodiscard]] int unacknowledged() const { return unacknowledged_; }

  /// What the agents have said meanwhile goes on its way.
  void deliver_new() {
    for (auto& [to, message] : leader_.take()) {
      if (const auto* propose = std::get_if<Propose>(&message)) acked_[propose->epoch].clear();
      if (const auto* commit = std::get_if<Commit>(&message))
        if (acked_[commit->epoch].size() < leader_.members()) ++unacknowledged_;
      for (auto& [rank, one] : ranks_)
        if (one.peer != 0 && (to ? *to == one.peer : leader_.seats().contains(one.peer)))
          post(one.down, rank, true, message);
    }
    for (const Peer peer : leader_.take_dropped())
      for (auto& [rank, one] : ranks_)
        if (one.peer == peer) drop(rank);
    for (auto& [rank, one] : ranks_)
      for (const Message& message : one.member->take())
        if (one.peer != 0) post(one.up, rank, false, message);
  }

 private:
  struct InFlight {
    TimePoint at;
    std::string text;
  };
  struct Rank {
    std::unique_ptr<Member> member;
    Peer peer = 0;  // 0: not connected
    std::optional<TimePoint> again;
    std::deque<InFlight> up;
    std::deque<InFlight> down;
  };

  Seconds travel(std::int64_t rank, bool down) {
    const bool link = !options_.slow_rank || *options_.slow_rank == rank;
    const bool way = !options_.slow_down || *options_.slow_down == down;
    if (link && way && random_.uniform() < options_.slow_share) return options_.slowest * random_.uniform();
    return options_.delay * random_.uniform();
  }

  // As TCP does: late perhaps, but in order.
  void post(std::deque<InFlight>& link, std::int64_t rank, bool down, const Message& message) {
    TimePoint at = now_ + travel(rank, down);
    if (!link.empty()) at = std::max(at, link.back().at);
    link.push_back({at, encode(message)});
  }

  void connect(Rank& one) {
    one.peer = ++peers_;
    one.again.reset();
    one.member->connected(now_);
  }

  void drop(std::int64_t rank) {
    Rank& one = ranks_.at(rank);
    if (one.peer == 0) return;
    if (!dead_.contains(0)) leader_.lost(one.peer, now_);
    one.peer = 0;
    one.up.clear();
    one.down.clear();
    one.member->lost("its connection broke");
    one.again = now_ + Seconds(1);
  }

  void schedule() { next_break_ = now_ + Seconds(1); }

  [[nodiscard]] TimePoint due() const {
    TimePoint first = std::min(next_break_, dead_.contains(0) ? next_break_ : leader_.next_due());
    for (const auto& [rank, one] : ranks_) {
      if (dead_.contains(rank) || dead_.contains(0)) continue;
      if (!one.up.empty()) first = std::min(first, one.up.front().at);
      if (!one.down.empty()) first = std::min(first, one.down.front().at);
      if (one.again) first = std::min(first, *one.again);
    }
    return first;
  }

  void happen() {
    for (auto& [rank, one] : ranks_) {
      if (dead_.contains(rank) || dead_.contains(0)) continue;
      while (!one.up.empty() && one.up.front().at <= now_) {
        const Message message = decode(one.up.front().text).value();
        one.up.pop_front();
        if (const auto* ack = std::get_if<Ack>(&message); ack != nullptr && ack->yes)
          acked_[ack->epoch].insert(one.peer);
        leader_.hear(one.peer, message, now_);
        if (one.peer == 0) break;
      }
      while (!one.down.empty() && one.down.front().at <= now_) {
        one.member->hear(decode(one.down.front().text).value(), now_);
        one.down.pop_front();
      }
      if (one.member->leader_silent(now_)) drop(rank);
      if (one.again && *one.again <= now_) connect(one);
    }
    if (now_ >= next_break_) {
      schedule();
      for (auto& [rank, one] : ranks_)
        if (random_.uniform() < options_.break_rate) drop(rank);
    }
    if (!dead_.contains(0) && leader_.next_due() <= now_) leader_.step(now_);
    deliver_new();
  }

  NetworkOptions options_;
  Random random_;
  TimePoint now_;
  Leader leader_;
  std::map<std::int64_t, Rank> ranks_;
  std::set<std::int64_t> dead_;
  Peer peers_ = 0;
  TimePoint next_break_;
  int unacknowledged_ = 0;
  std::map<std::uint64_t, std::set<Peer>> acked_;
};

}  // namespace rubato::agent
