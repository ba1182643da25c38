// Small pieces of a run for the record's tests: one GPU at 100 W, one sample every tenth of a second.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/text.h"
#include "record/writer.h"

namespace rubato::record::testing_data {

inline const GpuId kGpu{"GPU-5100"};
inline constexpr TimePoint kBegin{1'000'000'000'000};

/// A new empty folder, removed at the end.
class Folder {
 public:
  Folder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() / cat("rubato-record-test-", ::getpid(), "-", ++count);
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline RunInfo run_info(std::string id = "20261121-081500-1a2b",
                        std::string started_at = "2026-11-21T08:15:00Z") {
  return {.run_id = std::move(id),
          .mode = "run",
          .command = {"python", "train.py", "two words", ""},
          .working_directory = "/home/ada",
          .host = "node1",
          .rubato_version = "0.1.0",
          .boot_id = "b007",
          .started_at = std::move(started_at),
          .begin = kBegin,
          .clock_rate = 2.0};
}

inline DeviceInfo device_info() {
  return {.identity = {kGpu, "Tesla V100-PCIE-16GB", 3, "00000000:1B:00.0"},
          .kind = Kind::modelled,
          .backend = "sim",
          .driver_version = "550.1",
          .sensor = {.update_period = 20_ms, .calibration_band = 0.05, .source = "a table"},
          .found = PowerLimits{100_W, 250_W, 250_W, 200_W, 190_W}};
}

inline Source counter_source() {
  return {"nvml_energy_counter", "J", Scope::gpu, Kind::modelled, "20 ms steps"};
}

inline EnergyWindow energy(TimePoint begin, TimePoint end, Joules joules) {
  return {begin, end, joules, 2_J, joules * 0.05, counter_source()};
}

inline FastReading fast(int tenth) {
  const TimePoint at = kBegin + Seconds(0.1 * tenth);
  return {at, 100_W, Joules(10.0 * tenth)};
}

/// Samples and steps from `from` to `to`, in tenths of a second after the beginning.
inline Status write_tenths(Writer& writer, int from, int to) {
  for (int tenth = from; tenth < to; ++tenth) {
    writer.sample(kGpu, fast(tenth));
    if (tenth % 10 == 0) {
      SlowReading slow{.at = fast(tenth).at, .sm_clock = 1380_MHz};
      slow.limiter = LimiterReasons{.power_cap = true};
      writer.sample(kGpu, slow);
    }
    const Status stepped = writer.step(fast(tenth).at);
    if (!stepped) return stepped;
  }
  return {};
}

inline RunEnd run_end(Seconds duration = 30_s) {
  RunEnd end{.end = kBegin + duration, .exit_code = 3};
  end.devices.push_back({.gpu = kGpu,
                         .energy = energy(kBegin, kBegin + duration, Watts(100) * duration),
                         .found = Setting{.power_limit = 200_W},
                         .requested = Setting{.power_limit = 150_W},
                         .restoration = Restoration::restored,
                         .restoration_detail = "200 W is in force again"});
  end.cost = {{400, 0.2_s}, 0.5_s, 40960, 300};
  return end;
}

}  // namespace rubato::record::testing_data
