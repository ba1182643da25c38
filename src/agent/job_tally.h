// One series of work, time and energy for the whole job, from the tallies of its agents. Each tells its own
// at moments and on a clock of its own; they are compared at the same work.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>

#include "govern/tally.h"

namespace rubato::agent {

/// Energy is the sum over the agents. Time is the slowest agent's: the longest time any of them took from
/// where all had begun, not the sum of who was last at each step, which would add up the noise of hundreds.
class JobTally {
 public:
  using Agent = std::int64_t;

  /// The agent whose clock the job's series is told on, and whose pauses are the job's.
  explicit JobTally(Agent own) : own_(own) {}

  /// From here on the sum is over `count` agents, all of which have to be heard of anew; what was counted
  /// stays.
  void expect(std::size_t count);
  /// `shift`: what has to be added to the agent's work to count like the leader does.
  void tell(Agent agent, const govern::Tally& tally, double shift = 0);

  /// Up to the latest work that all agents have told of; absent before they have.
  [[nodiscard]] std::optional<govern::Tally> tally();
  /// Of its own time since all had begun, how much longer than the fastest an agent took; a fraction.
  [[nodiscard]] std::map<Agent, double> behind() const;

 private:
  struct Series {
    std::optional<govern::Tally> origin;
    std::deque<govern::Tally> points;  // ascending in work; the first is not after what is settled
  };
  [[nodiscard]] static govern::Tally at(const Series& series, double work);
  [[nodiscard]] static Seconds worked(const govern::Tally& from, const govern::Tally& to);
  [[nodiscard]] bool begin();

  Agent own_;
  std::size_t count_ = 0;
  std::map<Agent, Series> agents_;
  std::optional<govern::Tally> base_;  // of the job, where this count of agents began
  std::optional<govern::Tally> latest_;
};

}  // namespace rubato::agent
