// How much more alike the trace is to itself after whole cycles of a candidate than in between: where halves
// or thirds of it do as well, one of these is the period; where only each second or third whole does, that
// is.
#pragma once

#include "progress/period/lag_profile.h"

namespace rubato::progress {

/// Contrasts are differences of correlation, from -2 to 2, in the mean over teeth; z are contrasts over their
/// own standard error. Both 0 where the profile reaches no tooth.
struct Comb {
  double teeth = 0;   // mean correlation after whole cycles
  double halves = 0;  // whole cycles less those and a half
  double halves_z = 0;
  double thirds = 0;  // less those and a third or two
  double thirds_z = 0;
  double least_z = 0;  // of halves, thirds and fifths
  double doubles = 0;  // each second cycle less the others
  double doubles_z = 0;
  double triples = 0;  // each third
  double triples_z = 0;
  double multiple_z = 0;  // the most of doubles, triples and so on to the eightfold
};

[[nodiscard]] Comb comb_of(const LagProfile& profile, double period_s);

}  // namespace rubato::progress
