// What a stretch at one setting costs per unit of work, and how sure that is: means that a stall or a stray
// reading does not move, and their errors from the scatter inside the stretch.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "govern/tally.h"

namespace rubato::govern {

/// Of one stretch: logarithms of seconds per unit and of watts, with variances of single cells of one unit.
struct StretchMean {
  double work = 0;
  TimePoint begin;
  TimePoint end;
  double cell = 0;  // work of each part of the stretch that was a value by itself, at least
  double log_time = 0;
  double log_power = 0;
  std::optional<double> time_scatter;  // relative variance of one unit; absent: too little to tell
  std::optional<double> power_scatter;
};

class StretchMeter {
 public:
  /// `cell`: the work of a cell at least, that of the stretch it is to be compared with. What is trimmed is a
  /// tenth of the cells: iterations that are rarer than that and longer than others count in cells of many
  /// and do not in cells of one.
  void begin(const Tally& tally, double cell = 0);
  /// Cheap: at most one cell is closed. Tallies without new work change nothing.
  void add(const Tally& tally);
  [[nodiscard]] double work() const { return last_.work - first_.work; }
  [[nodiscard]] Seconds length() const { return last_.at - first_.at; }
  [[nodiscard]] const Tally& last() const { return last_; }
  /// Nothing without work or energy.
  [[nodiscard]] std::optional<StretchMean> mean() const;
  /// From some moment on it costs another time or power than before, by more than `least` (relative) and
  /// five standard errors: the job changed in between, and the mean is nobody's. What it cost from then on;
  /// nothing where nothing changed.
  [[nodiscard]] std::optional<StretchMean> since_shift(double least) const;

 private:
  struct Cell {
    double work;
    double seconds;
    double joules;
  };
  static constexpr std::size_t kCells = 512;
  [[nodiscard]] std::optional<StretchMean> mean_of(std::size_t begin, std::size_t end) const;

  Tally first_;
  Tally last_;
  Tally cell_;        // where the open cell began
  double least_ = 0;  // work of a cell
  std::size_t count_ = 0;
  std::array<Cell, kCells> cells_{};
};

}  // namespace rubato::govern
