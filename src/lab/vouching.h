// What a run's slowdown can be vouched for by what it measured: how long each program runs at the found
// setting for it, and the margin that what it did not measure leaves.
#pragma once

#include <cstddef>
#include <vector>

#include "base/units.h"
#include "lab/cost_table.h"

namespace rubato::lab {

/// Of each program by itself: the found setting and all others are told apart by the means of their
/// iterations (as slowdown_vouched_for does); programs share no noise, so their errors add up in squares.
class Vouching {
 public:
  /// `noise`: standard deviation of an iteration's time as observed, relative.
  Vouching(const CostTable& costs, std::size_t found, double noise, double max_slowdown, Watts host);

  /// So few of its iterations were at the found setting that the next one belongs there: the part that saves
  /// most of a run as long as it has been, the same of every program.
  [[nodiscard]] bool measures(std::size_t program);
  /// An iteration, of so many seconds.
  void ran(std::size_t program, bool at_found, double seconds);

  /// Seconds by which the run so far may have lost more than was seen (one in 10,000), were the next
  /// iteration of a program elsewhere than at the found setting and so long. Infinite where a program was not
  /// seen at the found setting.
  [[nodiscard]] double margin_with(std::size_t program, double seconds) const;
  /// The same, were as much again of every program done. The baseline grows as the power 2/3 of the run: a
  /// margin that falls with its root and a cost that grows with it meet there.
  [[nodiscard]] double margin_ahead() const;
  /// Part of as much again of a program that is not at the found setting then.
  [[nodiscard]] double elsewhere_ahead(std::size_t program) const;

 private:
  struct Seen {
    double at_found = 0;        // iterations
    double elsewhere = 0;       // the same
    double seconds = 0;         // of those elsewhere
    std::vector<double> saves;  // J of an iteration at the found setting, by slowdown in steps of kStep
    [[nodiscard]] double all() const { return at_found + elsewhere; }
  };
  /// Of the run so far, what as much again of it would save by so much slowdown.
  [[nodiscard]] double saved(double slowdown) const;
  [[nodiscard]] double variance(double at_found, double elsewhere, double seconds) const;

  double noise_;
  double bound_;
  double part_ = 1;         // of each program, at the found setting
  double plan_again_ = 0;   // iterations
  std::vector<Seen> seen_;  // by program
};

}  // namespace rubato::lab
