// Counters of one GPU, read over one window when somebody has a reason to: the iteration was found, or the
// job does something else now.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "core/sample.h"
#include "core/setting.h"
#include "device/gpu.h"
#include "feature/provider.h"
#include "record/types.h"

namespace rubato::conduct {

class CounterWatch {
 public:
  /// `provider` is a name, or "auto". It is opened at the first window. `gpu` outlives the watch.
  CounterWatch(device::Gpu& gpu, std::string provider) : gpu_(gpu), provider_name_(std::move(provider)) {}

  void see(const FastReading& reading);
  void see(const SlowReading& reading);
  /// From `now` on one window is wanted; `why` goes into the record.
  void want(std::string why);
  [[nodiscard]] bool wanted() const { return why_.has_value(); }
  /// A window that spans two settings tells of neither: it begins anew.
  void setting_changed();

  [[nodiscard]] std::optional<TimePoint> next_due() const;
  /// Opens and closes windows; `may_begin` is false while the job tunes or rests.
  [[nodiscard]] std::optional<record::FeatureWindow> step(TimePoint now, const Setting& in_force,
                                                          std::optional<Seconds> period, bool may_begin);
  /// Why nothing is counted, once.
  [[nodiscard]] std::optional<Error> take_complaint();
  /// At the run's end: that the counters told nothing in the latest window. A longer one follows the first
  /// such.
  [[nodiscard]] std::optional<Error> last_word() const;

 private:
  [[nodiscard]] bool ready();
  void give_up(Error why);
  /// Busy counters are tried once more, later; everything else is given up.
  void failed(Error why, TimePoint now);

  device::Gpu& gpu_;
  std::string provider_name_;
  std::unique_ptr<feature::Provider> provider_;
  bool given_up_ = false;
  std::optional<Error> complaint_;
  bool was_busy_ = false;  // and no window came to its end since
  TimePoint not_before_;
  bool longer_ = false;  // the windows to come
  bool tried_longer_ = false;
  std::optional<Seconds> told_nothing_in_;  // the latest window, if so
  std::optional<std::string> why_;
  std::optional<TimePoint> begin_;
  std::optional<TimePoint> end_due_;
};

}  // namespace rubato::conduct
