// Runs a session beside a simulated job in virtual time: one thread, one event queue, no waiting. The same
// parts with the same seeds give the same record, but for rubato's own cost in processor time.
#pragma once

#include <functional>
#include <optional>

#include "base/clock.h"
#include "conduct/session.h"
#include "wire/lease_client.h"

namespace rubato::conduct {

/// A job that lives in the same process and moves when it is told to. It is stepped at every event, due or
/// not, before anybody else: so its world stands at `now` when they look at it.
class VirtualJob {
 public:
  virtual ~VirtualJob() = default;
  [[nodiscard]] virtual TimePoint next_due() const = 0;
  virtual void step(TimePoint now) = 0;
  [[nodiscard]] virtual bool done() const = 0;
};

/// Something else that lives on the same clock: the guard's heartbeat watch, another tenant.
struct VirtualPeer {
  std::function<TimePoint()> next_due;
  std::function<void(TimePoint)> step;
};

/// Returns when the job is done, or at `give_up`; finishes the session either way. False: the job was not
/// done.
bool run_virtual(VirtualClock& clock, Session& session, VirtualJob& job, wire::LeaseClient* lease,
                 const std::vector<VirtualPeer>& peers, TimePoint give_up);

}  // namespace rubato::conduct
