// Reads a set of GPUs at the pace of their sensors. Passive: the driver of a run asks when it is due and
// steps it. A GPU that does not answer makes a gap and is asked less and less often; the others do not
// notice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/sample.h"
#include "device/gpu.h"

namespace rubato::measure {

/// `gpu` is the position in the set the sampler was given.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  virtual void on_fast(std::size_t gpu, const FastReading& reading) = 0;
  virtual void on_slow(std::size_t gpu, const SlowReading& reading) = 0;
  /// A GPU has stopped answering and will not soon again: told once, while the gap goes on.
  virtual void on_silence(std::size_t gpu, TimePoint begin, const Error& why);
  /// Told once, when the gap ends.
  virtual void on_gap(std::size_t gpu, TimePoint begin, TimePoint end, const std::string& why) = 0;
};

class Sampler {
 public:
  /// GPUs and sink must outlive the sampler. The first fast tick is due at `begin`.
  Sampler(std::vector<device::Gpu*> gpus, SampleSink& sink, TimePoint begin);

  [[nodiscard]] TimePoint next_due() const;
  /// Reads what is due. A late tick is made once, not made up for.
  void step(TimePoint now);
  /// From here on: what is known of a sensor may change while it is read.
  void set_period(std::size_t gpu, Seconds update_period);
  /// Reads one GPU at another pace until told otherwise; absent: at its period again.
  void hurry(std::size_t gpu, std::optional<Seconds> pace);
  /// Closes open gaps.
  void finish(TimePoint now);

  /// Of every GPU since it was opened.
  [[nodiscard]] CallCost cost() const;
  [[nodiscard]] std::uint64_t ticks() const { return ticks_; }
  [[nodiscard]] Seconds period(std::size_t gpu) const { return lanes_[gpu].period; }

 private:
  struct Outage {
    TimePoint begin;
    Error why;
    bool told = false;
  };
  struct Lane {
    device::Gpu* gpu = nullptr;
    Seconds period;
    std::optional<Seconds> hurry;
    TimePoint fast_due;
    TimePoint slow_due;
    Seconds backoff;
    TimePoint last_good;
    std::optional<Outage> outage;
    std::optional<Outage> slow_outage;
  };

  void fast_tick(std::size_t index, TimePoint now);
  void slow_tick(std::size_t index, TimePoint now);
  void close(std::size_t index, std::optional<Outage>& outage, TimePoint end);

  std::vector<Lane> lanes_;
  TimePoint origin_;  // of one grid for all: GPUs of one period are read in one wake-up
  SampleSink& sink_;
  std::uint64_t ticks_ = 0;
};

}  // namespace rubato::measure
