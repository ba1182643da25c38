// Meters beside the GPUs of `rubato windows`: what they counted between the edges of a window.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "conduct/live_meters.h"
#include "conduct/meter_watch.h"
#include "report/value.h"

namespace rubato::cli {

class WindowMeters {
 public:
  /// `specs` as typed after --meter. One that cannot be had is told with every window and costs only itself.
  WindowMeters(const std::vector<std::string>& specs, const std::shared_ptr<const Clock>& clock);

  /// When what came has to be taken; absent: there is nothing to take.
  [[nodiscard]] std::optional<TimePoint> next_due() const;
  void step(TimePoint now);

  void begin(TimePoint now);
  /// An object for each channel, and one for each meter that could not be had.
  [[nodiscard]] report::Array end(TimePoint begin, TimePoint now);

  /// False: one hangs, and the process has to leave by conduct::leave_now().
  [[nodiscard]] bool finish();

 private:
  void look(TimePoint now);

  std::shared_ptr<const Clock> clock_;
  std::optional<conduct::LiveMeters> live_;
  std::optional<conduct::MeterWatch> watch_;
  std::vector<record::ChannelInfo> channels_;
  struct Missing {
    std::string spec;
    std::string why;
  };
  std::vector<Missing> missing_;
  std::map<TimePoint, int> begins_;  // how many open windows began at each moment
  TimePoint due_;
  bool stuck_ = false;
};

}  // namespace rubato::cli
