// What a calibration found: every benchmark's curve over the settings, where it stands under the roofline,
// and the sweep table that models learn from.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/gpu_figures.h"
#include "core/sweep_table.h"
#include "experiment/calibrate/benchmarks.h"
#include "experiment/calibrate/point.h"
#include "predict/roofline/roofline.h"

namespace rubato::experiment {

/// Operations and bytes of a unit, as whoever ran it says; zero where the simulated GPU counts none.
struct UnitWork {
  double operations = 0;
  double bytes = 0;
};

struct CalibratedSetting {
  predict::KnobPoint at;
  Seconds time;  // the default's mean times the quotient within the run
  Joules energy;
  Reached reached;
  std::vector<std::string> notes;
};

struct CalibratedBenchmark {
  const Benchmark* benchmark = nullptr;
  UnitWork work;
  unsigned runs = 0;
  Seconds time;  // at the found setting, mean over the runs
  Joules energy;
  std::optional<double> time_scatter;  // relative standard deviation of a run; absent: one run
  std::optional<double> energy_scatter;
  std::map<std::string, double> features;  // at the found setting, mean
  std::optional<predict::Position> position;
  std::vector<CalibratedSetting> settings;  // that can be used
  struct Lost {
    predict::KnobPoint at;
    std::string why;
  };
  std::vector<Lost> lost;
};

/// The two roofs as they were reached at the found setting.
struct Ceilings {
  std::map<predict::Pipe, double> operations_per_s;  // the best of each pipe's benchmarks
  std::optional<double> bytes_per_s;
  [[nodiscard]] std::optional<double> ridge(predict::Pipe pipe) const;
};

/// `points` of one benchmark, at least one of them undisturbed: the others' found setting does not count.
/// `at`: the clocks seen at the found setting, where known.
[[nodiscard]] CalibratedBenchmark summarise_benchmark(const Benchmark& benchmark, const UnitWork& work,
                                                      std::span<const CalibrationPoint> points,
                                                      const std::optional<predict::Clocks>& at,
                                                      const std::optional<predict::PeakRates>& rates);
[[nodiscard]] Ceilings ceilings_of(std::span<const CalibratedBenchmark> benchmarks);

struct CalibrationNames {
  std::string gpu;
  std::vector<std::string> comments;
};

/// Features are those of the found setting on every row of a benchmark, and only such as all benchmarks have:
/// what a model trained on it finds in one default run of a workload. Roofline features are among them.
[[nodiscard]] SweepTable table_of(std::span<const CalibratedBenchmark> benchmarks,
                                  const CalibrationNames& names, const std::optional<Watts>& found_limit);

}  // namespace rubato::experiment
