// Run records made by hand: constant power in each block, so that every expected figure fits in the head.
#pragma once

#include <cmath>
#include <string>

#include "record/reader.h"

namespace rubato::analyse::testing_data {

inline constexpr TimePoint kBegin{5'000'000'000'000};

/// A job on simulated or real GPUs, block after block.
class MadeRun {
 public:
  explicit MadeRun(int gpus = 1, Kind kind = Kind::modelled) {
    run_.info = {.run_id = "20261121-081500-1a2b",
                 .mode = "run",
                 .command = {"python", "train.py"},
                 .rubato_version = "0.1.0",
                 .started_at = "2026-11-21T08:15:00Z",
                 .begin = kBegin};
    for (int i = 0; i < gpus; ++i) {
      record::DeviceRecord& d = run_.devices.emplace_back();
      d.info.identity = {{"GPU-510" + std::to_string(i)},
                         "Tesla V100-PCIE-16GB",
                         static_cast<unsigned>(i),
                         "00000000:1B:00.0"};
      d.info.kind = kind;
      d.info.sensor = {.update_period = 20_ms, .calibration_band = 0.05, .source = "made"};
      d.info.found = PowerLimits{100_W, 250_W, 250_W, 200_W, 200_W};
      d.fast.push_back({kBegin, Watts(0), Joules(0)});
    }
  }

  /// `iterations` equal ones at `power` each GPU; iteration times and powers waver by `noise` in turn.
  MadeRun& block(BlockRole role, std::int64_t iterations, Seconds each, Watts power, double noise = 0.0) {
    const TimePoint begin = now_;
    Joules energy;
    for (std::int64_t i = 0; i < iterations; ++i) {
      const double up = 1 + noise * std::sin(static_cast<double>(count_) * 12.9898);
      const TimePoint from = now_;
      now_ = now_ + each * up;
      run_.iterations.push_back({count_++, from, now_});
      // The series is sampled at the iterations' ends: exact, because power is constant in between.
      const Joules used = power * (now_ - from);
      energy += used;
      counter_ += used;
      for (record::DeviceRecord& d : run_.devices) d.fast.push_back({now_, power, counter_});
    }
    for (const record::DeviceRecord& d : run_.devices)
      run_.blocks.push_back({role, d.info.identity.id, at(role), begin, now_, iterations,
                             window(begin, now_, energy, d.info.kind)});
    return *this;
  }

  /// What the trials and warm-ups from here on are set to; empty: as found.
  MadeRun& trying(const Setting& setting) {
    tried_ = setting;
    return *this;
  }

  MadeRun& holding(const Setting& setting) {
    held_ = setting;
    return *this;
  }

  /// At constant power without iterations: start-up, or a job nobody understands.
  MadeRun& idle(BlockRole role, Seconds time, Watts power) {
    const TimePoint begin = now_;
    now_ = now_ + time;
    counter_ += power * time;
    for (record::DeviceRecord& d : run_.devices) {
      d.fast.push_back({now_, power, counter_});
      run_.blocks.push_back({role, d.info.identity.id, at(role), begin, now_, 0,
                             window(begin, now_, power * time, d.info.kind)});
    }
    return *this;
  }

  record::RunRecord ended() {
    record::RunEnd end{.end = now_, .exit_code = 0};
    for (const record::DeviceRecord& d : run_.devices)
      end.devices.push_back({.gpu = d.info.identity.id,
                             .energy = window(kBegin, now_, counter_, d.info.kind),
                             .found = Setting{.power_limit = 200_W},
                             .requested = held_,
                             .restoration = Restoration::restored,
                             .restoration_detail = "the requested limit of 200 W is in force again"});
    end.cost = {{6000, 0.3_s}, 0.04_s, 30'000, 3000};
    run_.end = end;
    return run_;
  }
  record::RunRecord& record() { return run_; }

 private:
  static EnergyWindow window(TimePoint begin, TimePoint end, Joules energy, Kind kind) {
    return {begin, end,           energy,
            2_J,   energy * 0.05, {"nvml_energy_counter", "J", Scope::gpu, kind, "20 ms steps"}};
  }

  [[nodiscard]] Setting at(BlockRole role) const {
    if (role == BlockRole::hold) return held_;
    return role == BlockRole::trial || role == BlockRole::warmup ? tried_ : Setting{};
  }

  record::RunRecord run_;
  Setting tried_;
  Setting held_{.power_limit = 150_W};
  TimePoint now_ = kBegin;
  std::int64_t count_ = 0;
  Joules counter_;
};

}  // namespace rubato::analyse::testing_data
