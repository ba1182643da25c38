// How far a mean of readings has to be off before it counts as changed: from the false alarms allowed, the
// correlation of the readings, and how many of them the level and the noise were learned from.
#pragma once

#include <cstddef>

namespace rubato::progress {

/// Mean number of independent normal readings, of unit spread about a known level, between two false alarms
/// of the rule "some mean of the latest `shortest` to `longest` readings is off by `threshold` or more of its
/// own standard errors, either way".
/// Siegmund and Venkatraman, Annals of Statistics 23 (1995) 255; nu() as in Siegmund and Yakir (2007).
[[nodiscard]] double readings_between_alarms(double threshold, std::size_t shortest, std::size_t longest);
/// The threshold for a given number of readings between alarms.
[[nodiscard]] double threshold_for(double readings, std::size_t shortest, std::size_t longest);

/// The value of Student's t that is as rare as `normal` is of a standard normal: for a spread that was itself
/// estimated, with so many degrees of freedom (Wallace, Biometrika 46 (1959) 124).
[[nodiscard]] double as_student(double normal, double degrees_of_freedom);

/// Variance of the mean of `count` neighbours of a first-order autoregression, over that of one of them.
[[nodiscard]] double variance_of_mean(double correlation, double count);

/// log of an upper bound on the chance that `hits` or more of `count` independent trials succeed, each with
/// chance `p`: the number of ways to choose them times p^hits.
[[nodiscard]] double log_chance_of_hits(std::size_t hits, std::size_t count, double p);

}  // namespace rubato::progress
