// The agent that leads: knows who is here, adds up the job's series, and has everybody switch at one
// iteration. Pure: messages, observations and time go in; messages and the setting agreed on come out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/job_tally.h"
#include "agent/message.h"
#include "agent/roster.h"
#include "agent/timing.h"
#include "base/clock.h"

namespace rubato::agent {

struct Outgoing {
  std::optional<Peer> to;  // absent: every member that has joined
  Message message;
};

/// A switch in three steps. *Propose*: at iteration K, some iterations ahead. All answer within one
/// iteration, or it is cancelled. *Commit*: all confirm having received that within another iteration and
/// before K, or it is cancelled. At K everybody applies it, this agent too. So no single message that is late
/// or lost makes two agents differ; where both a commit and the cancel after it are late, the one that was
/// late says so and everybody goes back to the found setting.
class Leader {
 public:
  Leader(Join own, Timing timing, TimePoint now);

  void hear(Peer from, const Message& message, TimePoint now);
  /// The connection is gone.
  void lost(Peer peer, TimePoint now);
  /// How this agent itself stands; `iteration`: how long one takes at present. Before want().
  void see(const Report& own, Seconds iteration, TimePoint now);
  /// The setting all are to be at, empty for the found one. Pursued until all are, another one is wanted, or
  /// everybody had to go back.
  void want(const JobSetting& setting, TimePoint now);
  void want(const Setting& of_all, TimePoint now) { want(JobSetting{of_all, {}}, now); }
  void stage(BlockRole role, const std::string& why);
  void step(TimePoint now);
  /// This agent's own run is over.
  void end(TimePoint now);
  [[nodiscard]] TimePoint next_due() const { return due_; }
  [[nodiscard]] std::vector<Outgoing> take();
  /// Connections to be closed once what was taken is sent.
  [[nodiscard]] std::vector<Peer> take_dropped();

  /// What is to be in force here now, and since which epoch (0: never switched, or halted).
  [[nodiscard]] Setting agreed() const { return agreed_.of(kOwn); }
  /// The same of all.
  [[nodiscard]] const JobSetting& agreed_by_all() const { return agreed_; }
  [[nodiscard]] std::uint64_t epoch() const { return agreed_epoch_; }
  [[nodiscard]] bool switching() const { return phase_ != Phase::idle; }
  /// Nothing is being switched, and all have told that what was agreed on is in force.
  [[nodiscard]] bool settled() const;
  /// At which of its own iterations it switches; absent where no switch is agreed on.
  [[nodiscard]] std::optional<std::int64_t> switches_at() const;

  [[nodiscard]] bool everybody_here() const { return covered_ >= seats_.at(kOwn).join.world; }
  /// Why nothing may be set on the whole job; empty: it may.
  [[nodiscard]] std::string why_not() const;
  [[nodiscard]] bool under_load() const;
  [[nodiscard]] bool tuning() const;
  /// Of any agent, told once.
  [[nodiscard]] std::optional<std::string> take_shift();
  [[nodiscard]] std::optional<govern::Tally> tally() { return tally_.tally(); }
  /// News for people, told once: who came and went, what was cancelled.
  [[nodiscard]] std::vector<std::string> take_notes();

  [[nodiscard]] std::size_t members() const { return seats_.size() - 1; }
  [[nodiscard]] const std::map<Peer, Seat>& seats() const { return seats_; }
  /// Members that are here and have not said goodbye.
  [[nodiscard]] std::size_t still_running() const { return members() - left_.size(); }
  /// How many agents were ever here, this one among them, and whether all ranks of the job were at once.
  [[nodiscard]] std::size_t agents_seen() const { return ranks_seen_.size() + 1; }
  [[nodiscard]] bool were_all_here() const { return were_all_here_; }
  /// Last words of members, in the order of their ranks; those that were lost are not among them.
  [[nodiscard]] std::vector<Totals> totals() const;
  struct Counts {
    std::int64_t switches = 0;
    std::int64_t cancelled = 0;
    std::int64_t halts = 0;
    std::int64_t lost = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  enum class Phase { idle, proposed, committed };
  struct Switch {
    std::uint64_t epoch = 0;
    std::int64_t at = 0;
    JobSetting setting;
    TimePoint deadline;
    std::set<Peer> answered;
  };

  void join(Peer from, const Join& join, TimePoint now);
  void leave_earlier_seat(const Join& join, TimePoint now);
  [[nodiscard]] std::string objection(const Join& join) const;
  void report(Peer from, Seat& seat, const Report& report);
  void ack(Peer from, const Ack& ack, TimePoint now);
  void pursue(TimePoint now);
  void propose(TimePoint now);
  void commit(TimePoint now);
  void cancel(const std::string& why, TimePoint now);
  void halt(const std::string& why, TimePoint now);
  void drop(Peer peer);
  void rest(TimePoint now);
  [[nodiscard]] std::string name_of_seat(const Seat& seat) const;
  [[nodiscard]] std::string missing() const;
  [[nodiscard]] Seconds patience() const { return std::max(iteration_, timing_.answer); }
  void send(std::optional<Peer> to, Message message) { out_.push_back({to, std::move(message)}); }

  Timing timing_;
  std::map<Peer, Seat> seats_;  // our own among them
  std::map<Peer, TimePoint> heard_;
  std::map<std::int64_t, Totals> totals_;  // by rank
  std::set<Peer> left_;                    // said goodbye
  std::int64_t covered_ = 0;               // ranks whose GPUs somebody here measures
  std::set<std::int64_t> ranks_seen_;
  std::set<std::int64_t> refused_;  // ranks whose refusal was told
  bool were_all_here_ = false;
  JobTally tally_;
  Seconds iteration_{1.0};
  JobSetting wanted_;
  JobSetting agreed_;
  std::uint64_t agreed_epoch_ = 0;
  TimePoint agreed_since_;
  Phase phase_ = Phase::idle;
  Switch switch_;
  std::uint64_t epochs_ = 0;
  unsigned failed_in_row_ = 0;
  TimePoint retry_;
  TimePoint next_pulse_;
  TimePoint due_;
  std::optional<Stage> stage_;
  std::string shift_;
  std::vector<Outgoing> out_;
  std::vector<Peer> dropped_;
  std::vector<std::string> notes_;
  Counts counts_;
  bool ended_ = false;
};

}  // namespace rubato::agent
