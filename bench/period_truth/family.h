// The kinds of job and of power sensor the judge draws, and what each is called.
#pragma once

#include <array>
#include <string_view>

namespace rubato::period_truth {

enum class Family {
  plain,
  micro_batches,
  epochs,
  jitter,
  drift,
  stalls,
  clock_change,
  low_contrast,
  brief,
  lengthy,
  slow_start,
  background,
  pair,
  mixed,
  // Without a period from here on.
  flat,
  bursts,
  inference,
  wander,
  reinforcement,
};
inline constexpr unsigned kFamilies = 19;
inline constexpr unsigned kPeriodicFamilies = 14;
[[nodiscard]] constexpr bool has_iterations(Family family) {
  return static_cast<unsigned>(family) < kPeriodicFamilies;
}

enum class SensorKind { instant, part_time, full_time, long_mean, lagging };
inline constexpr unsigned kSensorKinds = 5;

[[nodiscard]] constexpr std::string_view name_of(Family family) {
  constexpr std::array<std::string_view, kFamilies> kNames = {
      "plain phases",  "micro-batches",   "epochs with pauses",
      "jitter",        "drifting period", "data stalls",
      "clock changes", "low contrast",    "short (0.05-0.3 s)",
      "long (5-30 s)", "slow start",      "slow background",
      "pairs (GAN)",   "several at once", "flat",
      "bursts",        "inference",       "random walk",
      "rollouts (RL)",
  };
  return kNames[static_cast<unsigned>(family)];
}
[[nodiscard]] constexpr std::string_view name_of(SensorKind kind) {
  constexpr std::array<std::string_view, kSensorKinds> kNames = {
      "instant, 50 Hz", "25 of 100 ms", "100 of 100 ms", "mean of 1 s each 100 ms", "first-order lag",
  };
  return kNames[static_cast<unsigned>(kind)];
}

}  // namespace rubato::period_truth
