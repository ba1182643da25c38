// Every kind of board in the published sensor table: how its reading comes about, and what is told of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/capability.h"

namespace rubato::truth {

enum class Counter { none, sees_all, sees_what_the_sensor_sees };

/// One row of the table: what this board does.
struct Board {
  std::string model;
  std::string field;
  double period_s = 0;
  double window_s = 0;         // mean of that much time before a refresh; 0 where it lags
  double lag_s = 0;            // time constant of a first-order lag; 0 where it has a window
  double delay_s = 0;          // from the end of the window to the refresh
  std::optional<double> gain;  // reading = gain * power + offset; absent: no meter was beside it
  double offset_w = 0;
  double r2 = 1;      // of that straight line
  double idle_w = 0;  // data sheet or typical
  double highest_w = 0;
  bool volta_or_newer = false;  // these have an energy counter

  /// "100 ms, 25 ms seen": rows of one name behave alike.
  [[nodiscard]] std::string kind() const;
};

struct Table {
  std::vector<Board> boards;
  std::size_t left_out = 0;  // rows with a cell missing in the middle, or empty
};
/// Empty where the file cannot be read.
[[nodiscard]] Table read_table(const std::string& data_folder);

/// What a program may know of such a board before it looks: the published figures of its generation, absent
/// where boards of one generation differ.
[[nodiscard]] SensorFacts published(const Board& board);

}  // namespace rubato::truth
