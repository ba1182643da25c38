// Writes work out in time, at the clock of the moment, and keeps the marks.
#pragma once

#include <utility>
#include <vector>

#include "period_truth/program.h"
#include "period_truth/recipe.h"

namespace rubato::period_truth {

class Writer {
 public:
  /// `speeds`: {from when, clock over the highest}, in order of time, the first at 0.
  Writer(Program& program, std::vector<std::pair<double, double>> speeds);

  [[nodiscard]] double now() const { return program_.end_s; }
  void work(const Piece& piece, double factor);
  void wait(double seconds, double level);
  void begin_step();
  /// Waits inside a step that count as lost.
  void stall(double seconds, double level);
  void end_step();

 private:
  [[nodiscard]] double speed() const;
  Program& program_;
  std::vector<std::pair<double, double>> speeds_;
  Step step_;
};

}  // namespace rubato::period_truth
