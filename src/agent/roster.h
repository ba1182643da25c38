// Who of a job is here, and whether that is everybody.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/message.h"
#include "core/setting.h"

namespace rubato::agent {

/// One connection to a member; never used twice in a run. kOwn is the leader itself.
using Peer = std::int64_t;
inline constexpr Peer kOwn = 0;

/// What all are to be at: one setting, and of some of them a lower SM clock than it says. Only a base that
/// says an SM clock has such.
struct JobSetting {
  Setting base;  // empty: the found one
  std::map<Peer, Megahertz> lower;

  bool operator==(const JobSetting&) const = default;
  [[nodiscard]] Setting of(Peer peer) const {
    Setting out = base;
    const auto own = lower.find(peer);
    if (own != lower.end() && out.sm_clock) out.sm_clock = ClockRange{own->second, own->second};
    return out;
  }
};

struct Seat {
  Join join;
  std::optional<Report> report;
  /// What makes its work count like the leader's, where the program itself does not count.
  std::optional<double> shift;
};

}  // namespace rubato::agent
