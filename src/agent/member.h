// An agent that does not lead: says how it stands, answers, and switches when and as agreed. Pure, as the
// leader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/message.h"
#include "agent/timing.h"
#include "base/clock.h"

namespace rubato::agent {

class Member {
 public:
  enum class State {
    looking,  // for the leader, or for one that was lost
    asking,   // connected, not yet welcome
    joined,
    refused,  // for good
  };

  Member(Join own, Timing timing) : join_(std::move(own)), timing_(timing) {}

  void connected(TimePoint now);
  /// The connection is gone: whatever was agreed on is void, and the found setting comes back.
  void lost(const std::string& why);
  void hear(const Message& message, TimePoint now);
  /// How this agent stands; its epoch is filled in: `in_force` says what really is.
  void see(Report own, const Setting& in_force, TimePoint now);
  /// Said before the connection is closed.
  void leave(Totals totals);
  /// True where the leader was silent for too long: close the connection, and say lost().
  [[nodiscard]] bool leader_silent(TimePoint now) const;
  [[nodiscard]] std::vector<Message> take();

  /// What is to be in force here now; empty: the found setting.
  [[nodiscard]] const Setting& agreed() const { return agreed_.setting; }
  [[nodiscard]] bool switching() const { return pending_.has_value(); }
  [[nodiscard]] std::optional<std::int64_t> switches_at() const;
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const Stage& stage() const { return stage_; }
  [[nodiscard]] const std::string& leader_run() const { return leader_run_; }
  /// Why nothing is agreed on at present; for people and the record.
  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] std::vector<std::string> take_notes();

 private:
  struct Agreed {
    std::uint64_t epoch = 0;
    Setting setting;
  };
  struct Pending {
    std::uint64_t epoch = 0;
    std::int64_t at = 0;  // of our own iterations
    Setting setting;
    TimePoint good_until;  // for its commit
    bool committed = false;
  };

  void propose(const Propose& message, TimePoint now);
  void commit(const Commit& message, TimePoint now);
  void cancel(const Cancel& message);
  void to_found(const std::string& why);
  void late(std::uint64_t epoch, std::string why);

  Join join_;
  Timing timing_;
  State state_ = State::looking;
  std::string leader_run_;
  std::string why_ = "the leader of the job has not been reached yet";
  TimePoint heard_;
  std::optional<Report> own_;
  std::optional<Report> told_;
  TimePoint told_at_;
  Agreed agreed_;
  Agreed before_;  // the switch in force
  std::optional<Pending> pending_;
  Stage stage_;
  std::vector<Message> out_;
  std::vector<std::string> notes_;
};

}  // namespace rubato::agent
