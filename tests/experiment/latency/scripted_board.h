// A GPU whose clocks and power move as a test says, to the millisecond.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "experiment/latency/study.h"

namespace rubato::experiment {

class ScriptedBoard final : public LatencyBench {
 public:
  Seconds clock_delay{0.020};
  Seconds power_delay{0.050};
  Seconds ramp{0};  // between two of three equal steps of the clock
  /// What a clock reading takes, so long after the latest request.
  std::function<Seconds(Seconds)> reading_takes = [](Seconds) { return Seconds(0); };
  std::function<std::optional<Error>(const Setting&)> refuses = [](const Setting&) { return std::nullopt; };
  /// From the moment that is told to the call itself.
  std::function<Seconds()> call_waits = [] { return Seconds(0); };
  unsigned asked = 0;
  std::optional<Megahertz> memory{7001};  // as it is read out

  Result<AskedFor> ask(const Setting& setting) override {
    ++asked;
    if (const auto error = refuses(setting)) return fail(*error);
    const TimePoint at = now;
    now = now + call_waits();
    before_ = clock_at(now);
    power_before_ = power_at(now);
    to_ = setting.sm_clock->max.value();
    changed_ = now;
    return AskedFor{at, now};
  }
  Result<ClockReading> clocks() override {
    now = now + reading_takes(now - changed_);
    return ClockReading{now, Megahertz(clock_at(now)), memory};
  }
  Result<FastReading> power() override {
    FastReading out;
    out.at = now;
    out.power = Watts(power_at(now));
    return out;
  }
  Result<SlowReading> state() override { return SlowReading{}; }

  [[nodiscard]] Status conduct(LatencyStudy& study) {
    while (!study.done()) {
      now = std::max(now, study.next_due());
      if (Status s = study.step(now, *this); !s) return s;
    }
    return {};
  }

  TimePoint now{1'000'000'000};

 private:
  [[nodiscard]] double clock_at(TimePoint t) const {
    double share = 0;
    for (int i = 0; i < 3; ++i)
      if (t - changed_ >= clock_delay - ramp * (2 - i)) share = (i + 1) / 3.0;
    return before_ + (to_ - before_) * share;
  }
  [[nodiscard]] double power_at(TimePoint t) const {
    return t - changed_ >= power_delay ? to_ / 10 : power_before_;
  }

  double before_ = 1500;
  double power_before_ = 150;
  double to_ = 1500;
  TimePoint changed_;
};

inline StudyPlan between_900_and_1500(unsigned repeats) {
  StudyPlan plan;
  const predict::Clocks low{Megahertz(900), Megahertz(7001)};
  const predict::Clocks high{Megahertz(1500), Megahertz(7001)};
  plan.pairs = {{low, high}, {high, low}};
  plan.repeats = repeats;
  plan.sm_step = Megahertz(15);
  plan.power_period = Seconds(0.02);
  plan.power_window = Seconds(0.02);
  return plan;
}

}  // namespace rubato::experiment
