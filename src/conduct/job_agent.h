// This run's part in the agreement of a job on many nodes: joins the pure protocol (agent/leader.h, member.h)
// with its connections. Stepped by the session; the strategies below are what asks and obeys it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/dialer.h"
#include "agent/hub.h"
#include "agent/leader.h"
#include "agent/meeting.h"
#include "agent/member.h"
#include "conduct/agreement.h"
#include "conduct/beside.h"
#include "govern/strategy.h"

namespace rubato::conduct {

struct JobAgentParts {
  agent::Join own;
  agent::Timing timing;                  // on the run's clock
  std::shared_ptr<const Clock> network;  // what connections live on: the wall
  std::optional<agent::Hub> hub;         // of the leader, as is the meeting point
  std::optional<agent::MeetingPoint> meeting;
  std::optional<agent::Dialer> dialer;           // of a member
  std::function<void(const std::string&)> tell;  // people: who came, who is lost, what was cancelled
  std::function<void(const Error&)> warn;
};

class JobAgent final : public Beside {
 public:
  JobAgent(JobAgentParts parts, TimePoint now);

  [[nodiscard]] TimePoint next_due() const override;
  bool step(TimePoint now, const IterationsNow& iterations) override;
  /// Readable where something has arrived.
  [[nodiscard]] int fd() const;

  [[nodiscard]] const agent::Join& own() const { return parts_.own; }
  /// Null where this agent does not lead, and the other way round.
  [[nodiscard]] agent::Leader* leader() { return leader_ ? &*leader_ : nullptr; }
  [[nodiscard]] agent::Member* member() { return member_ ? &*member_ : nullptr; }
  /// Whether the program itself tells of its iterations, and how long one takes.
  [[nodiscard]] bool by_marks() const { return iterations_.by_marks; }
  [[nodiscard]] Seconds iteration() const { return iteration_; }

  /// News for people.
  void tell(const std::string& note) const {
    if (parts_.tell) parts_.tell(note);
  }

  /// After the session's end, on the caller's thread: last words go out, and the leader takes the others' for
  /// up to `patience` of the wall.
  void finish(agent::Totals own, TimePoint now, Seconds patience);
  /// Of the whole job, this agent's first; of a member its own only.
  [[nodiscard]] std::vector<agent::Totals> totals() const;

 private:
  void step_leader(TimePoint now);
  void step_member(TimePoint now);
  void send_all(TimePoint now);
  void follow(const IterationsNow& iterations);
  void tell_trouble(TimePoint now);
  [[nodiscard]] std::optional<std::int64_t> switches_at() const;

  JobAgentParts parts_;
  TimePoint begin_;
  std::optional<agent::Leader> leader_;
  std::optional<agent::Member> member_;
  std::optional<agent::Totals> own_;
  IterationsNow iterations_;
  std::deque<std::pair<std::int64_t, TimePoint>> ends_;  // of the latest iterations
  Seconds iteration_;
  TimePoint looked_;
  bool trouble_told_ = false;
};

/// Rank 0's: another strategy decides on the whole job's figures, and what it decides is put to all agents.
class LeadingStrategy final : public govern::Strategy {
 public:
  /// `clocks`: of ranks that wait for others; nothing where all have the same.
  LeadingStrategy(std::shared_ptr<JobAgent> agent, std::unique_ptr<govern::Strategy> inner,
                  std::optional<RankClocks> clocks)
      : agent_(std::move(agent)), inner_(std::move(inner)), clocks_(std::move(clocks)) {}
  [[nodiscard]] std::string_view name() const override { return inner_->name(); }
  [[nodiscard]] govern::Decision next(const govern::Observation& o) override;

 private:
  std::shared_ptr<JobAgent> agent_;
  std::unique_ptr<govern::Strategy> inner_;
  std::optional<RankClocks> clocks_;
};

/// Every other rank's: what was agreed on, and nothing else.
class AgreedStrategy final : public govern::Strategy {
 public:
  /// `never`: why nothing can be set here at all; empty where it can.
  AgreedStrategy(std::shared_ptr<JobAgent> agent, std::string never)
      : agent_(std::move(agent)), never_(std::move(never)) {}
  [[nodiscard]] std::string_view name() const override { return "agreed"; }
  [[nodiscard]] govern::Decision next(const govern::Observation& o) override;

 private:
  std::shared_ptr<JobAgent> agent_;
  std::string never_;
};

}  // namespace rubato::conduct
