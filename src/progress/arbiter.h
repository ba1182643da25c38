// Several sources tell of the iteration; the best one that can be trusted is used, and the others check it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/iteration_estimate.h"

namespace rubato::progress {

/// What a second source says of the one in use.
struct Check {
  ProgressSource source = ProgressSource::telemetry;
  bool agrees = false;  // nothing in it contradicts: the same length, a whole multiple or part, or no say
  std::optional<double> ratio;  // its period over that of the source in use
  std::string why;              // "3 of its periods are one iteration: micro-batches"
};

struct Ruling {
  std::optional<IterationEstimate> estimate;  // of the source in use, its confidence as the checks leave it
  std::vector<Check> checks;                  // one for each other source that has an estimate
  std::string why;
};

/// Keeps the latest estimate of each source and rules over them. What each source said decides, not in which
/// order the sources spoke. Changes its choice reluctantly: a source is trusted from a confidence of 0.5 on,
/// and until it falls below 0.35.
///
/// Marks that lie further apart than any iteration worth waiting for (30 s) while another source sees a
/// shorter rhythm mark an epoch or an evaluation: they are then a check, and the other source is used.
class Arbiter {
 public:
  /// Later than the source's estimate before; an older one, or one that is no number, is left out.
  void tell(const IterationEstimate& estimate);
  /// The source has nothing to say any more.
  void silent(ProgressSource source);
  /// Estimates that are too old do not count: marks after ten of their periods (10 s at least), telemetry
  /// after five (30 s), kernels, which are recorded in cycles, after three minutes.
  [[nodiscard]] Ruling rule(TimePoint now) const;
  /// What a source said last; absent: nothing, or it fell silent.
  [[nodiscard]] const std::optional<IterationEstimate>& latest(ProgressSource source) const {
    return latest_[static_cast<std::size_t>(source)];
  }

 private:
  std::array<std::optional<IterationEstimate>, 3> latest_;  // by source
  std::array<bool, 3> trusted_{};
  bool marks_coarse_ = false;
};

}  // namespace rubato::progress
