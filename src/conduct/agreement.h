// One question to a run that has agents beside it: what it tells them, and what it then does itself. Pure,
// with no word of how agents are reached.
#pragma once

#include <string>

#include "agent/leader.h"
#include "agent/member.h"
#include "govern/strategy.h"

namespace rubato::conduct {

struct OwnIterations {
  bool by_marks = false;  // the program itself tells of them
  Seconds length;         // at present
};

/// Rank 0's: `inner` decides on the whole job's figures, and what it decides is put to all agents.
[[nodiscard]] govern::Decision lead(agent::Leader& leader, const OwnIterations& own, govern::Strategy& inner,
                                    const govern::Observation& o);

/// Every other rank's: what was agreed on, and nothing else. `never`: why nothing can be set here at all;
/// empty where it can.
[[nodiscard]] govern::Decision obey(agent::Member& member, bool by_marks, const std::string& never,
                                    const govern::Observation& o);

}  // namespace rubato::conduct
