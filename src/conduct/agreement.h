// One question to a run that has agents beside it: what it tells them, and what it then does itself. Pure,
// with no word of how agents are reached.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/leader.h"
#include "agent/member.h"
#include "govern/slack/slack_taker.h"
#include "govern/strategy.h"

namespace rubato::conduct {

struct OwnIterations {
  bool by_marks = false;  // the program itself tells of them
  Seconds length;         // at present
};

/// Clocks of their own for ranks that wait for others, where they were asked for.
class RankClocks {
 public:
  explicit RankClocks(govern::SlackTaker taker) : taker_(std::move(taker)) {}

  /// What the strategy is told. `job` of all agents, as measured.
  [[nodiscard]] govern::Observation told(const agent::Leader& leader, const govern::Observation& job);
  /// What is to be wanted of all where the strategy decides so.
  [[nodiscard]] agent::JobSetting next(const agent::Leader& leader, const govern::Observation& job,
                                       const govern::Decision& wanted, std::optional<govern::Left> left);
  [[nodiscard]] govern::SlackTaker& taker() { return taker_; }
  [[nodiscard]] const govern::SlackTaker& taker() const { return taker_; }

 private:
  void see(const agent::Leader& leader, const govern::Observation& job);
  [[nodiscard]] govern::LowerClocks positions(const agent::JobSetting& setting) const;

  govern::SlackTaker taker_;
  std::vector<agent::Peer> ranks_;
  Setting base_;  // what the strategy wants
  agent::JobSetting in_force_;
};

/// Rank 0's: `inner` decides on the whole job's figures, and what it decides is put to all agents. `clocks`
/// may be null.
[[nodiscard]] govern::Decision lead(agent::Leader& leader, const OwnIterations& own, govern::Strategy& inner,
                                    const govern::Observation& o, RankClocks* clocks = nullptr);

/// Every other rank's: what was agreed on, and nothing else. `never`: why nothing can be set here at all;
/// empty where it can.
[[nodiscard]] govern::Decision obey(agent::Member& member, bool by_marks, const std::string& never,
                                    const govern::Observation& o);

}  // namespace rubato::conduct
