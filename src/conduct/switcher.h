// Who sends the requests of a plan, each at its moment: on a thread of its own beside a real job, so that a
// driver call holds up neither the sampler nor anything else; inline where time is virtual.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "govern/layer_plan/switch_times.h"

namespace rubato::conduct {

/// Blocks for as long as the guard and the driver take.
using SendClocks = std::function<Status(const predict::Clocks&)>;

struct SwitcherState {
  govern::SwitchCounts counts;
  Seconds inside;                // spent in sends, together
  std::optional<Error> failure;  // of the latest send; nothing is sent after it
};

class Switcher {
 public:
  virtual ~Switcher() = default;
  /// Once, before anything is planned.
  virtual void send_by(SendClocks send) = 0;
  /// In the place of what was not sent yet.
  virtual void plan(std::vector<govern::TimedSwitch> upcoming) = 0;
  /// Nothing is sent any more when this returns, until plan() again.
  virtual void stop() = 0;
  [[nodiscard]] virtual SwitcherState state() const = 0;
  /// Where it has no thread: when step() is due.
  [[nodiscard]] virtual std::optional<TimePoint> next_due() const { return std::nullopt; }
  virtual void step(TimePoint) {}
};

class InlineSwitcher final : public Switcher {
 public:
  explicit InlineSwitcher(govern::SwitchLimits limits) : queue_(limits) {}

  void send_by(SendClocks send) override { send_ = std::move(send); }
  void plan(std::vector<govern::TimedSwitch> upcoming) override { queue_.plan(std::move(upcoming)); }
  void stop() override;
  [[nodiscard]] SwitcherState state() const override { return {queue_.counts(), Seconds(0), failure_}; }
  [[nodiscard]] std::optional<TimePoint> next_due() const override;
  void step(TimePoint now) override;

 private:
  govern::SwitchQueue queue_;
  SendClocks send_;
  std::optional<Error> failure_;
};

}  // namespace rubato::conduct
