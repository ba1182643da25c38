// Saving against slowdown, one mark per run, in characters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lab/score.h"

namespace rubato::cli {

/// What several strategies' scatters share, so that they can be compared by eye.
struct ScatterFrame {
  double least_slowdown = 0;
  double most_slowdown = 0;
  double least_saving = 0;
  double most_saving = 0;
  double bound = 0;
};

class Scatter {
 public:
  explicit Scatter(double bound);
  /// Widens the frame to hold these.
  void include(std::span<const lab::Row> rows);
  /// Lines of text. A digit: so many runs at one place, "+" ten or more; "|" the bound.
  [[nodiscard]] std::vector<std::string> lines(std::span<const lab::Row> rows) const;

 private:
  ScatterFrame frame_;
};

}  // namespace rubato::cli
