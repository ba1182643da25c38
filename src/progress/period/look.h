// A stretch of the trace with its iterations followed: what one verdict rests on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "progress/period/analysis.h"
#include "progress/period/cycle_lengths.h"

namespace rubato::progress {

/// A stretch in which the iteration kept its length but for jitter and drift.
struct Regime {
  double period_s = 0;
  double begin_s = 0;
  double end_s = 0;
  Finding finding;
  Followed followed;
};

struct Look {
  Span span;
  std::vector<Regime> regimes;         // in order of time; empty: nothing periodic was found
  double likest = 0;                   // median likeness of the likest candidate
  double chance = 0;                   // of the best candidate, whether believed or not
  std::optional<double> unresolved_s;  // length of one that the readings do not tell from others
  std::vector<Opinion> opinions;       // of the whole of it (recall.h)
};

/// `recall`: earlier looks at less of the same stretch.
[[nodiscard]] Look look(const Samples& samples, const Span& span, const Recall& recall = {});

/// What a finding says is to be followed, so that it can be followed on without another search.
struct Guide {
  std::vector<Column> which;
  std::vector<double> factors;
};

/// The iterations after the last of the marks, at the same place of the cycle.
[[nodiscard]] Followed follow_on(const Samples& samples, const Span& span, const Guide& guide,
                                 double period_s, const std::vector<double>& marks_s);

/// Of all regimes, in order of time. A regime too short to be followed counts by its period, and not at all
/// beside one that was followed.
[[nodiscard]] std::vector<TimedLength> all_lengths(const Look& look);

}  // namespace rubato::progress
