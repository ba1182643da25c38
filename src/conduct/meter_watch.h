// What the meters of a run tell: the energy of each channel, where one fell silent or said what cannot be,
// and how far it lies behind the GPUs. Passive, on the session's thread.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conduct/energy_now.h"
#include "conduct/power_trace.h"
#include "core/meter_reading.h"
#include "measure/energy_meter.h"
#include "record/types.h"
#include "record/writer.h"

namespace rubato::conduct {

class MeterWatch {
 public:
  /// `writer` may be null. `warn` is told each trouble once.
  MeterWatch(std::vector<record::ChannelInfo> channels, TimePoint begin, record::Writer* writer,
             std::function<void(const Error&)> warn);

  void take(const std::vector<MeterNews>& news, TimePoint now);
  void gpu_power(std::size_t gpu, TimePoint at, Watts power);
  /// Every channel from its first reading to `until`.
  [[nodiscard]] std::vector<ChannelNow> so_far(TimePoint until) const;
  /// Of one channel. What lies between `end` and its last reading is taken as the power it told last, and the
  /// whole of that stands in the sampling band. Errors: unavailable where it told nothing after `begin`, or
  /// nothing at or before it. A `begin` that take() has gone past has to be pinned.
  [[nodiscard]] Result<EnergyWindow> energy(std::size_t channel, TimePoint begin, TimePoint end) const;
  void pin(TimePoint moment);
  void unpin(TimePoint moment);
  /// The holes that are still open, and the channels over the whole run; a channel that told nothing to the
  /// end has the energy of the time in which it did.
  [[nodiscard]] std::vector<record::ChannelEnd> finish(TimePoint now);
  [[nodiscard]] bool empty() const { return channels_.empty(); }

 private:
  struct Channel {
    record::ChannelInfo info;
    measure::EnergyMeter meter;
    std::size_t of;  // position in meters_
    std::optional<TimePoint> first{};
    std::optional<TimePoint> last{};
    PowerTrace power{};
    std::deque<measure::EnergyAt> counter{};  // where no power is told, for the lag
    std::optional<Watts> told{};              // the latest power, where power is told
    bool doubted = false;                     // and said so
  };
  /// A stretch in which a meter said what cannot be.
  struct Doubtful {
    std::string what;
    TimePoint begin;
    std::optional<TimePoint> end{};  // absent: it goes on
  };
  struct Device {
    std::string name;
    Seconds patience;
    Seconds quiet{};  // nothing is missing for so long, where nothing else is wrong
    std::optional<TimePoint> last{};
    std::string trouble{};  // until the next reading without any
    bool failed = false;    // a look brought an error and nothing else since the last reading
    bool silence_told = false;
    std::vector<std::string> told{};
    std::optional<Doubtful> doubtful{};  // not in the record yet
  };
  struct Hole {
    std::size_t channel = 0;
    TimePoint begin;
    TimePoint end;
  };

  /// How long it may tell nothing.
  [[nodiscard]] Seconds patience_with(const Device& meter) const;
  void add(const MeterReading& reading, std::vector<Hole>& holes);
  void judge(Channel& channel, const measure::CounterStep& step);
  void begin_trouble(Device& meter, const MeterNews& news);
  static void end_trouble(Device& meter, const MeterNews& news);
  void put_doubtful(Device& meter, TimePoint end);
  void notice_silence(TimePoint now);
  /// One row for a meter all of whose channels were silent.
  void put_holes(const std::vector<Hole>& holes);
  void doubt(Channel& channel, const std::string& what);
  void warn(ErrorCode code, std::string what, std::string hint = {}) const;
  /// Told, or the latest change of its energy.
  [[nodiscard]] static std::optional<Watts> latest_power(const Channel& channel);
  void estimate_lag(Channel& channel, std::span<const measure::PowerAt> gpus, record::ChannelEnd& end);

  TimePoint begin_;
  record::Writer* writer_;
  std::function<void(const Error&)> warn_;
  double clock_rate_;
  std::vector<Channel> channels_;
  std::vector<Device> meters_;
  std::vector<PowerTrace> gpus_;
};

}  // namespace rubato::conduct
