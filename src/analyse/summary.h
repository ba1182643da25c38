// What a run record says about the run: energy per GPU, cost per iteration at each setting, what was saved.
// Pure functions of the record; a figure that cannot be had is absent and a sentence says why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/kernels.h"
#include "analyse/parts.h"
#include "analyse/scopes.h"
#include "analyse/timeline.h"
#include "core/restoration.h"
#include "record/reader.h"

namespace rubato::analyse {

inline constexpr double kConfidence = 0.90;

/// Limits of the 90 % confidence interval.
struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// A fraction (0.12 is 12 %).
struct Estimate {
  double value = 0.0;
  std::optional<Interval> interval;
  std::string why_no_interval;  // a clause, where absent
};

struct GpuSummary {
  GpuIdentity identity;
  Kind kind = Kind::measured;
  std::optional<EnergyWindow> energy;
  std::string why_no_energy;
  std::optional<Setting> found;
  std::optional<Setting> requested;
  std::optional<Restoration> restoration;  // absent: the record was cut short
  std::string restoration_detail;
};

/// All stretches of one role at one setting. Energy is of all GPUs together; iterations are counted once.
struct SettingSummary {
  BlockRole role = BlockRole::hold;
  Setting setting;
  int stretches = 0;
  Seconds time;
  std::int64_t iterations = 0;
  std::optional<Joules> energy;  // absent where a GPU's energy is missing in any of the stretches
  std::optional<Joules> energy_per_iteration;
  std::optional<Seconds> iteration_time;
  std::optional<Watts> mean_power;
};

/// The chosen setting against the found one.
struct Savings {
  Kind kind = Kind::measured;
  Estimate energy_per_iteration;  // saved, as a fraction of what an iteration costs at the found setting
  Estimate slowdown;              // more time per iteration, as a fraction of it at the found setting
  Estimate edp_per_iteration;     // saved of energy times time, as a fraction, likewise
  Estimate ed2p_per_iteration;    // and of energy times time squared
  // The whole run as it was, start, search and control blocks included, against the same run at the found
  // setting.
  Joules run_saved;
  Estimate run_energy;
  Seconds run_longer;
  Estimate run_slowdown;
  std::int64_t found_iterations = 0;
  std::int64_t hold_iterations = 0;
  std::string method;
  // Board and host, where the host's watts are known. The host goes on drawing while the job takes longer.
  std::optional<Joules> run_saved_with_host;
  std::optional<Watts> vanishes_at_host;  // the host watts at which nothing is saved; absent: none would do
};

/// What the strategy expected of a setting before it was tried, with its own 90 % intervals.
struct ExpectedOfTry {
  Estimate energy_saved;
  Estimate slowdown;
  double holds = 1;  // the chance that it keeps the bound
};

/// A setting that was tried, against the found one.
struct TriedSetting {
  Setting setting;
  TimePoint first;
  Seconds time;
  std::int64_t iterations = 0;
  // Fractions; absent where no whole iterations or no baseline were measured.
  std::optional<Estimate> energy_saved;
  std::optional<Estimate> slowdown;
  bool while_watching = false;            // first tried after a setting had been held already
  std::optional<ExpectedOfTry> expected;  // absent: the strategy does not predict, or the record is older
};

struct Search {
  std::vector<TriedSetting> tried;   // distinct, in order of their first try
  TimePoint began;                   // of the first try
  std::optional<TimePoint> settled;  // a setting was held from then on; absent: the run ended before
  Seconds searching;                 // from the one to the other, or to the end of the last try
  /// In RunRecord::expectations: as it stood when the setting was chosen; where none was, the latest.
  std::optional<std::size_t> choice;
};

/// What watching has cost. CPU and driver time pass on the wall clock even where the run's clock is faster,
/// so the fractions are of wall time.
struct OwnCostSummary {
  CallCost driver;
  Seconds cpu;
  std::optional<Seconds> wall;  // absent: the record gives the run no length
  std::optional<double> cpu_fraction;
  std::optional<double> driver_fraction;
  std::optional<double> bytes_per_tick;
  std::uint64_t ticks = 0;
  std::uint64_t bytes_written = 0;
};

struct Summary {
  std::optional<Seconds> duration;  // to the last thing known, where the record was cut short; else absent
  std::vector<GpuSummary> gpus;
  std::optional<EnergyWindow> total;  // of all GPUs; absent where one is missing
  std::vector<SettingSummary> settings;
  std::optional<Savings> savings;
  std::string why_no_savings;    // a sentence, where absent
  std::optional<Search> search;  // absent: no setting was tried
  std::optional<OwnCostSummary> cost;
  Timeline timeline;
  Parts parts;
  Scopes scopes;
  std::vector<KernelSummary> kernels;  // of every GPU that kernels were recorded on
};

[[nodiscard]] Summary summarise(const record::RunRecord& run);

}  // namespace rubato::analyse
