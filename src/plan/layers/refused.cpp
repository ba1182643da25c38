#include <algorithm>
#include <cmath>
#include <limits>

#include "plan/layers/iteration.h"
#include "plan/layers/strategies.h"

namespace rubato::plan {
namespace {

class Priced {
 public:
  Priced(const SegmentTable& table, Watts price) : table_(table), price_(price) {}
  [[nodiscard]] double operator()(std::size_t segment, std::size_t setting) const {
    return joules_with(table_.cost(segment, setting), price_);
  }
  [[nodiscard]] std::size_t best(std::size_t segment, std::size_t unless_better_than) const {
    std::size_t best = unless_better_than;
    for (std::size_t a = 0; a < table_.settings.size(); ++a)
      if ((*this)(segment, a) < (*this)(segment, best)) best = a;
    return best;
  }

 private:
  const SegmentTable& table_;
  Watts price_;
};

}  // namespace

SegmentPlan::Refused refused(const SegmentTable& table, const Switching& switching, Watts price,
                             const std::vector<std::size_t>& setting) {
  const Priced priced(table, price);
  const std::size_t segments = table.segments.size();
  const std::size_t settings = table.settings.size();
  SegmentPlan::Refused out;
  double nearest = 0;
  for (std::size_t i = 0; i < segments;) {
    const std::size_t in_force = setting[i];
    const std::size_t wanted = priced.best(i, in_force);
    double gain = 0;
    Seconds length;
    std::size_t k = i;
    for (; k < segments && setting[k] == in_force && priced.best(k, in_force) == wanted; ++k) {
      gain += priced(k, in_force) - priced(k, wanted);
      length += table.cost(k, wanted).time;
    }
    i = k;
    if (wanted == in_force || gain <= 0 || length <= Seconds(0)) continue;
    // Going there and back: over the first tail nothing is gained, over the second the next segment loses by
    // the clocks it did not ask for. What is lost is paid for by a longer stretch at the same gain a second.
    const Seconds there = switching.delay_of(in_force, wanted, settings);
    const Seconds back = switching.delay_of(wanted, in_force, settings);
    const Seconds stall =
        switching.stall_of(in_force, wanted, settings) + switching.stall_of(wanted, in_force, settings);
    const std::size_t next = k % segments;
    const double wrong = priced(next, wanted);
    if (!std::isfinite(wrong)) continue;
    const double loss = std::max(0.0, wrong - priced(next, in_force)) / table.cost(next, wanted).time.value();
    const double lost = loss * back.value() + ((switching.stalled + price) * stall).value();
    const Seconds needed = std::max(there + Seconds(lost / (gain / length.value())), switching.dwell);
    if (!(length < needed)) continue;
    ++out.stretches;
    if (length / needed <= nearest) continue;
    nearest = length / needed;
    out.longest = length;
    out.needed = needed;
  }
  return out;
}

}  // namespace rubato::plan
