// Times clock changes one after the other, in random order: puts the GPU at the first clock of a pair, lets
// it settle, asks for the second and reads until it and power are there. Passive: whoever drives it calls
// step() when it is due.
#pragma once

#include <deque>
#include <vector>

#include "base/random.h"
#include "experiment/latency/bench.h"
#include "experiment/latency/change.h"
#include "experiment/latency/latency_file.h"

namespace rubato::experiment {

struct StudyPlan {
  std::vector<ClockPair> pairs;
  unsigned repeats = 10;
  Megahertz sm_step;     // of the table of clocks
  bool sm_clock = true;  // which knobs the lease may touch
  bool memory_clock = false;
  Seconds gap{0.001};                   // between two readings of the clock
  std::optional<Seconds> power_period;  // of the power sensor, where it is known
  std::optional<Seconds> power_window;  // it averages over
  Seconds patience{2};                  // until a clock that is not there is given up
  /// A simulated GPU takes no time of its own to be called. So a call that came back late was held up by the
  /// machine, perhaps before it was made, and that is no part of the delay.
  bool calls_take_no_time = false;
};

/// How long power is watched before and after a change: until the sensor shows nothing of the time before.
[[nodiscard]] Seconds settling_of(const StudyPlan& plan);
/// What one change takes on the study's own clock, clock latency aside.
[[nodiscard]] Seconds length_of_change(const StudyPlan& plan);

class LatencyStudy {
 public:
  LatencyStudy(StudyPlan plan, Random random);

  [[nodiscard]] bool done() const { return left_.empty(); }
  [[nodiscard]] TimePoint next_due() const { return next_due_; }
  /// An error ends the study: the GPU or the lease is gone.
  [[nodiscard]] Status step(TimePoint now, LatencyBench& gpu);

  [[nodiscard]] std::size_t changes_left() const { return left_.size(); }
  [[nodiscard]] const std::vector<TimedChange>& changes() const { return changes_; }
  /// Every pair, in the order of the plan, with all changes so far; unavailable where none was timed. The
  /// caller says whose it is.
  [[nodiscard]] Result<LatencyTable> table() const;

 private:
  enum class Phase { begin, approach, settle, follow };

  [[nodiscard]] const ClockPair& pair() const { return plan_.pairs[left_.front()]; }
  [[nodiscard]] Setting setting_to(const predict::Clocks& clocks, bool only_changes) const;
  [[nodiscard]] Status begin(TimePoint now, LatencyBench& gpu);
  [[nodiscard]] Status approach(TimePoint now, LatencyBench& gpu);
  [[nodiscard]] Status settle(TimePoint now, LatencyBench& gpu);
  [[nodiscard]] Status follow(TimePoint now, LatencyBench& gpu);
  [[nodiscard]] Status read_power(TimePoint now, LatencyBench& gpu, std::vector<PowerReading>& into);
  [[nodiscard]] Status give_up(const ClockReading& last, const predict::Clocks& wanted, LatencyBench& gpu);
  void arrive(const ClockReading& reading);
  void note_call(const AskedFor& asked);
  void note_gap(const ClockReading& reading);
  void lose(std::string why);
  void finish();
  [[nodiscard]] TimedChange finest_late();
  void next();

  StudyPlan plan_;
  Random random_;
  std::deque<std::size_t> left_;    // pairs, one entry for each change that is to come
  std::vector<unsigned> again_;     // of each pair: changes measured once more, a reading having come late
  std::vector<TimedChange> late_;   // those
  std::vector<unsigned> lost_row_;  // of each pair: lost one after the other
  std::vector<TimedChange> changes_;
  std::vector<double> gaps_;
  std::vector<double> calls_;  // how long they took to be answered
  std::optional<Seconds> readout_period_;

  Phase phase_ = Phase::begin;
  TimePoint next_due_;
  ClockTolerance tolerance_;
  TimePoint since_;  // the phase's own
  TimePoint power_due_;
  std::vector<PowerReading> before_;
  std::vector<PowerReading> after_;
  std::optional<ClockReading> last_;
  std::optional<TimePoint> last_move_;  // of the read-out, while following
  TimedChange change_;
  Seconds held_up_;  // of the request, where its call came back late
  bool came_late_ = false;
};

}  // namespace rubato::experiment
