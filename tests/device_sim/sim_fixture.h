// A private world with something to compute, moved by hand.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "device/sim/world.h"

namespace rubato::device::sim {

inline Segment compute_heavy(double seconds = 0.1) {
  return {.compute_s = seconds, .memory_s = seconds / 10, .compute_activity = 1.0, .memory_activity = 1.0};
}
inline Segment stream(double seconds = 0.1) {
  return {.compute_s = seconds / 20, .memory_s = seconds, .compute_activity = 0.3, .memory_activity = 1.0};
}

class Bench {
 public:
  explicit Bench(const std::string& profile = "v100", const Scenario& scenario = {}) {
    const std::vector<std::string> names{profile};
    auto made = SimWorld::create_private(names, scenario, TimePoint{1'000'000'000});
    EXPECT_TRUE(made) << made.error().what;
    world = std::move(*made);
    now = TimePoint{1'000'000'000};
  }

  void load(Segment segment) {
    const auto id = world->add_context(0, 1234, 1 << 20, std::span(&segment, 1), now);
    ASSERT_TRUE(id) << id.error().what;
    context = *id;
    keep_busy();
  }
  void keep_busy() const {
    while (world->submit(0, context, 1.0, now)) {
    }
  }
  /// Goes on for `span` with the queue kept full.
  void run(Seconds span) {
    const TimePoint end = now + span;
    while (now < end) {
      now = std::min(end, now + 50_ms);
      static_cast<void>(world->truth(0, now));
      if (context.value != 0) keep_busy();
    }
  }
  [[nodiscard]] Truth truth() const { return *world->truth(0, now); }
  [[nodiscard]] Readout read() const { return *world->read(CallId::read_power, 0, now); }
  [[nodiscard]] std::uint64_t completed() const { return world->progress(0, context, now)->completed; }

  struct Rates {
    double watts = 0.0;
    double seconds_per_iteration = 0.0;
    [[nodiscard]] double joules() const { return watts * seconds_per_iteration; }
  };
  /// After `settle`, over `span`.
  Rates measure(Seconds settle, Seconds span) {
    run(settle);
    const Truth begin = truth();
    const auto from = *world->progress(0, context, now);
    run(span);
    const auto to = *world->progress(0, context, now);
    const double done = static_cast<double>(to.completed - from.completed) + to.fraction - from.fraction;
    return {(truth().energy - begin.energy) / span / Watts(1), span.value() / done};
  }

  std::unique_ptr<SimWorld> world;
  ContextId context;
  TimePoint now;
};

}  // namespace rubato::device::sim
