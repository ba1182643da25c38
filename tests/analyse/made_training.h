// Trainings made by hand, with marks, several GPUs and meters: power is constant in each stretch and read
// every 100 ms, so that what belongs to a stretch fits in the head.
#pragma once

#include <rubato/mark_layout.h>

#include <string>
#include <utility>

#include "analyse/made_run.h"
#include "record/reader.h"

namespace rubato::analyse::testing_data {

inline constexpr Seconds kTick{0.1};

class MadeTraining {
 public:
  explicit MadeTraining(int gpus = 1, bool counter = true, Kind kind = Kind::measured) : counter_(counter) {
    run_.info = {.run_id = "20261121-081500-1a2b",
                 .mode = "measure",
                 .command = {"python", "train.py"},
                 .rubato_version = "0.1.0",
                 .started_at = "2026-11-21T08:15:00Z",
                 .begin = kBegin};
    for (int i = 0; i < gpus; ++i) {
      record::DeviceRecord& d = run_.devices.emplace_back();
      d.info.identity = {
          {"GPU-510" + std::to_string(i)}, "NVIDIA A100 80GB PCIe", static_cast<unsigned>(i), ""};
      d.info.kind = kind;
      d.info.sensor = {.update_period = kTick, .calibration_band = 0.05, .source = "made"};
    }
    sample(0_W);
  }

  /// A meter's channel that reads `base` and `share` of every GPU's power.
  MadeTraining& channel(std::string meter, std::string name, Scope scope, Watts base, double share = 0,
                        std::string inside = {}) {
    record::ChannelRecord& c = run_.channels.emplace_back();
    c.info.meter = std::move(meter);
    c.info.channel = {
        .name = std::move(name), .scope = scope, .inside = std::move(inside), .has_power = true};
    c.info.channel.sensor = {.update_period = kTick, .calibration_band = 0.01, .source = "made"};
    feeds_.push_back({base, share, 0_J});
    c.readings.push_back({now_, base, {}});
    return *this;
  }

  MadeTraining& mark(std::uint32_t kind, std::uint64_t id, std::uint64_t detail = 0, std::int32_t pid = 1,
                     std::int32_t rank = -1, std::int32_t tid = 1) {
    run_.marks.push_back(
        {.at = now_, .kind = kind, .id = id, .detail = {detail}, .pid = pid, .tid = tid, .rank = rank});
    return *this;
  }
  /// The same with a name.
  MadeTraining& say(std::uint32_t kind, std::uint64_t id, const std::string& name) {
    run_.names[id] = name;
    return mark(kind, id);
  }

  MadeTraining& iterate(int iterations, Seconds each, Watts power) {
    for (int i = 0; i < iterations; ++i) {
      const TimePoint from = now_;
      mark(RUBATO_MARK_ITERATION_BEGIN, static_cast<std::uint64_t>(count_));
      wait(each, power);
      mark(RUBATO_MARK_ITERATION_END, static_cast<std::uint64_t>(count_));
      run_.iterations.push_back({count_++, from, now_});
    }
    return *this;
  }

  MadeTraining& phase(std::uint64_t id, Seconds time, Watts power) {
    return mark(RUBATO_MARK_PHASE_BEGIN, id).wait(time, power).mark(RUBATO_MARK_PHASE_END, id);
  }

  MadeTraining& wait(Seconds time, Watts power, double utilisation = 1.0) {
    const TimePoint until = now_ + time;
    while (now_ < until) {
      const TimePoint next = std::min(until, next_sample_);
      const Seconds step = next - now_;
      energy_ += power * step;
      for (Feed& feed : feeds_) feed.energy += power_of(feed, power) * step;
      now_ = next;
      if (now_ == next_sample_) sample(power, utilisation);
    }
    return *this;
  }

  /// With the true energies as the record's own figures.
  record::RunRecord ended() {
    record::RunEnd end{.end = now_, .exit_code = 0};
    for (const record::DeviceRecord& d : run_.devices)
      end.devices.push_back(
          {.gpu = d.info.identity.id, .energy = whole(energy_, Scope::gpu, d.info.kind, 0.05)});
    for (std::size_t c = 0; c < run_.channels.size(); ++c)
      end.channels.push_back(
          {.channel = c,
           .energy = whole(feeds_[c].energy, run_.channels[c].info.channel.scope, Kind::measured, 0.01)});
    run_.end = end;
    return run_;
  }
  record::RunRecord& record() { return run_; }
  [[nodiscard]] TimePoint now() const { return now_; }
  [[nodiscard]] Joules energy() const { return energy_; }

 private:
  struct Feed {
    Watts base;
    double share;
    Joules energy;
  };

  [[nodiscard]] Watts power_of(const Feed& feed, Watts gpu) const {
    return feed.base + gpu * (feed.share * static_cast<double>(run_.devices.size()));
  }

  EnergyWindow whole(Joules energy, Scope scope, Kind kind, double calibration) const {
    return {kBegin, now_, energy, 20_J, energy * calibration, {"energy_counter", "J", scope, kind, "made"}};
  }

  void sample(Watts power, double utilisation = 1.0) {
    for (record::DeviceRecord& d : run_.devices) {
      d.fast.push_back({now_, power, counter_ ? std::optional(energy_) : std::nullopt});
      d.slow.push_back({.at = now_, .sm_utilisation = utilisation});
    }
    for (std::size_t c = 0; c < run_.channels.size(); ++c)
      run_.channels[c].readings.push_back({now_, power_of(feeds_[c], power), {}});
    next_sample_ = now_ + kTick;
  }

  record::RunRecord run_;
  bool counter_;
  std::vector<Feed> feeds_;
  TimePoint now_ = kBegin;
  TimePoint next_sample_ = kBegin;
  std::int64_t count_ = 0;
  Joules energy_;
};

/// Ten seconds of start-up, then epochs of 50 iterations of 0.4 s at 300 W and 10 s of evaluation at 100 W, 1
/// s between them, and 2 s at the end: 20 s and 6000 J of iterations, 1000 J of evaluation an epoch.
inline MadeTraining three_epochs(MadeTraining made = MadeTraining()) {
  made.wait(10_s, 50_W, 0.0).mark(RUBATO_MARK_TRAINING_BEGIN, 0);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    made.mark(RUBATO_MARK_EPOCH_BEGIN, epoch, 10).iterate(50, 0.4_s, 300_W);
    made.phase(RUBATO_PHASE_EVALUATION, 10_s, 100_W).mark(RUBATO_MARK_EPOCH_END, epoch).wait(1_s, 60_W);
  }
  made.mark(RUBATO_MARK_TRAINING_END, 0).wait(2_s, 50_W, 0.0);
  return made;
}

}  // namespace rubato::analyse::testing_data
