// One iteration on a simulated board at one setting, once clocks, limiter and temperature have settled: the
// simulated GPU's own physics, without walking there.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/units.h"
#include "device/sim/profile.h"
#include "device/sim/work.h"
#include "predict/curve.h"

namespace rubato::lab {

struct SteadyPoint {
  Seconds time;
  Watts power;
  Megahertz sm_clock;  // mean over time
  double sm_busy = 0;  // fractions of time
  double memory_busy = 0;
};

/// The iteration's segments alternate faster than the limiter averages, so it sees their mean; layers of a
/// network do.
class SteadyState {
 public:
  SteadyState(const device::sim::Profile& board, std::span<const device::sim::Segment> iteration);
  ~SteadyState();
  SteadyState(const SteadyState&) = delete;
  SteadyState& operator=(const SteadyState&) = delete;

  /// An absent member: as found. An SM clock at or above the highest that the board goes to by itself locks
  /// nothing. Memory clocks must stand in the board's table.
  [[nodiscard]] SteadyPoint at(const predict::KnobPoint& setting);

 private:
  struct Row {  // one SM clock held
    double seconds = 0;
    double watts = 0;
    double celsius = 0;
    double sm_busy = 0;
    double memory_busy = 0;
  };
  struct Held {  // `share` of the time at `low` + 1, the rest at `low`
    std::size_t low = 0;
    double share = 0;
  };
  const std::vector<Row>& rows_at(std::size_t memory_index);
  [[nodiscard]] Row row(std::size_t sm_index, std::size_t memory_index);
  [[nodiscard]] Held allowed(const std::vector<Row>& rows, std::optional<Megahertz> lock);
  [[nodiscard]] Held under_limit(const std::vector<Row>& rows, Held allowed, Watts limit) const;

  const device::sim::Profile& board_;
  std::vector<device::sim::Segment> iteration_;
  struct Board;
  std::unique_ptr<Board> state_;
  std::vector<std::vector<Row>> rows_;  // by memory clock; empty: not yet asked for
};

}  // namespace rubato::lab
