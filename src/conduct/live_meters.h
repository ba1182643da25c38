// Reads every meter of a run on a thread of its own, at the meter's pace: one that is slow or hangs delays no
// other, no GPU reading, and not the end of the run. Part of the live driver's side.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "core/meter_reading.h"
#include "meter/meter.h"
#include "record/types.h"

namespace rubato::conduct {

class LiveMeters {
 public:
  /// Reading begins at once. `clock` is the run's, in which the meters stamp their readings; where it runs
  /// faster than the wall the channels' periods are given in its seconds, and their sources say that the
  /// watts are not.
  LiveMeters(std::vector<std::unique_ptr<meter::Meter>> meters, const std::shared_ptr<const Clock>& clock);
  /// A meter that hangs is left behind with its thread; the process must then leave by leave_now().
  ~LiveMeters();
  LiveMeters(const LiveMeters&) = delete;

  /// All channels of all meters; MeterReading::channel of what take() gives is a position in it.
  [[nodiscard]] const std::vector<record::ChannelInfo>& channels() const { return channels_; }
  /// What came since the last call.
  [[nodiscard]] std::vector<MeterNews> take();
  /// One reading now of each that can tell something new ten times a second: by the time this returns take()
  /// has it, but for those that need longer than `patience`. What is slower is not asked out of turn.
  void look(Seconds patience);
  /// One last reading of each, as far as it comes within `patience`. False: at least one has not come back.
  bool finish(Seconds patience = Seconds(0.25));

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::vector<record::ChannelInfo> channels_;
  std::vector<bool> quick_;  // those that look() asks
  std::vector<std::thread> threads_;
};

}  // namespace rubato::conduct
