// A simulated GPU under load in virtual time, and a study driven on it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/sim/world.h"
#include "experiment/latency/bench.h"
#include "experiment/latency/pairs.h"
#include "experiment/latency/study.h"

namespace rubato::experiment {

class SimulatedBench final : public LatencyBench {
 public:
  SimulatedBench(const std::string& profile, std::uint64_t seed, const std::string& work = "calibrate-fp32") {
    const std::vector<std::string> names{profile};
    device::sim::Scenario scenario;
    scenario.seed = seed;
    world_ = std::move(*device::sim::SimWorld::create_private(names, scenario, now_));
    const auto& segments = (*device::sim::find_workload(work))->segments;
    context_ = *world_->add_context(0, 1, 1 << 20, segments, now_);
    run(Seconds(2));
  }

  [[nodiscard]] const device::sim::Profile& profile() const { return world_->profile(0); }
  [[nodiscard]] Megahertz memory() const { return world_->truth(0, now_)->memory_clock; }

  Result<AskedFor> ask(const Setting& setting) override {
    if (setting.sm_clock)
      if (const Status s = world_->lock_sm_clock(0, *setting.sm_clock, now_); !s) return fail(s.error());
    if (setting.memory_clock)
      if (const Status s = world_->lock_memory_clock(0, *setting.memory_clock, now_); !s)
        return fail(s.error());
    return AskedFor{now_, now_};
  }
  Result<ClockReading> clocks() override {
    const auto r = world_->read(device::sim::CallId::read_clocks, 0, now_);
    if (!r) return fail(r.error());
    return ClockReading{r->at, r->sm_clock, r->memory_clock};
  }
  Result<FastReading> power() override {
    const auto r = world_->read(device::sim::CallId::read_power, 0, now_);
    if (!r) return fail(r.error());
    FastReading out;
    out.at = r->at;
    out.power = r->power_instant;
    return out;
  }
  Result<SlowReading> state() override {
    const auto r = world_->read(device::sim::CallId::read_limiter, 0, now_);
    if (!r) return fail(r.error());
    SlowReading out;
    out.at = r->at;
    out.limiter = r->limiter;
    return out;
  }

  void run(Seconds span) {
    const TimePoint end = now_ + span;
    while (now_ < end) go_to(std::min(end, now_ + Seconds(0.1)));
  }
  void go_to(TimePoint t) {
    now_ = t;
    if (now_ < fed_) return;
    fed_ = now_ + Seconds(0.1);
    while (world_->submit(0, context_, 1.0, now_)) {
    }
  }
  [[nodiscard]] Status conduct(LatencyStudy& study) {
    while (!study.done()) {
      go_to(std::max(now_, study.next_due()));
      if (Status s = study.step(now_, *this); !s) return s;
    }
    return {};
  }

  /// What really happens, seen every 0.1 ms by nobody who reads a driver.
  [[nodiscard]] Seconds true_delay(const ClockPair& pair) {
    static_cast<void>(ask(lock(pair.from)));
    run(Seconds(1));
    const TimePoint asked = now_;
    const auto before = *world_->truth(0, now_);
    static_cast<void>(ask(lock(pair.to)));
    for (;;) {
      go_to(now_ + Seconds(0.0001));
      const auto truth = *world_->truth(0, now_);
      if (truth.sm_clock != before.sm_clock || truth.memory_clock != before.memory_clock) return now_ - asked;
      if (now_ - asked > Seconds(2)) ADD_FAILURE() << "the clock never changed";
      if (now_ - asked > Seconds(2)) return now_ - asked;
    }
  }

 private:
  [[nodiscard]] Setting lock(const predict::Clocks& at) const {
    Setting out{.sm_clock = ClockRange{at.sm, at.sm}};
    if (profile().has_memory_lock) out.memory_clock = ClockRange{at.memory, at.memory};
    return out;
  }

  TimePoint now_{1'000'000'000};
  TimePoint fed_;
  std::unique_ptr<device::sim::SimWorld> world_;
  device::sim::ContextId context_;
};

}  // namespace rubato::experiment
