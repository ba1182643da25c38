#include "conduct/virtual_driver.h"

#include <algorithm>

namespace rubato::conduct {

bool run_virtual(VirtualClock& clock, Session& session, VirtualJob& job, wire::LeaseClient* lease,
                 const std::vector<VirtualPeer>& peers, TimePoint give_up) {
  while (!job.done() && clock.now() < give_up) {
    TimePoint due = std::min(job.next_due(), session.next_due());
    if (lease != nullptr) due = std::min(due, lease->next_due());
    for (const auto& peer : peers) due = std::min(due, peer.next_due());
    clock.advance_to(std::min(due, give_up));
    const TimePoint now = clock.now();
    job.step(now);
    for (const auto& peer : peers)
      if (peer.next_due() <= now) peer.step(now);
    if (lease != nullptr && lease->next_due() <= now)
      static_cast<void>(lease->step(now));  // the session notices a loss
    if (session.next_due() <= now) session.step(now);
  }
  JobEnd end;
  if (job.done()) end.exit_code = 0;
  session.finish(clock.now(), end);
  return job.done();
}

}  // namespace rubato::conduct
