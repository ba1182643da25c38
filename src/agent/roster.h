// Who of a job is here, and whether that is everybody.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/message.h"

namespace rubato::agent {

/// One connection to a member; never used twice in a run. kOwn is the leader itself.
using Peer = std::int64_t;
inline constexpr Peer kOwn = 0;

struct Seat {
  Join join;
  std::optional<Report> report;
  /// What makes its work count like the leader's, where the program itself does not count.
  std::optional<double> shift;
};

}  // namespace rubato::agent
