#include "conduct/cost.h"

#include <ctime>

namespace rubato::conduct {

Seconds own_cpu_time() {
  // getrusage rounds to the scheduler's tick on some kernels; this clock counts nanoseconds.
  timespec spent{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent) != 0) return Seconds(0);
  return Seconds(static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9);
}

record::OwnCost own_cost(const CallCost& driver, std::uint64_t ticks, std::uint64_t bytes_written) {
  return {driver, own_cpu_time(), bytes_written, ticks};
}

}  // namespace rubato::conduct
