// Cuts a run into pieces that cover it without overlap: stretches of iterations, and what lies between them.
#pragma once

#include <string>
#include <vector>

#include "analyse/timeline.h"

namespace rubato::analyse {

inline constexpr std::string_view kIterations = "iterations";
inline constexpr std::string_view kStartUp = "start-up";
inline constexpr std::string_view kEnd = "end";

struct Piece {
  std::string label;
  TimePoint begin;
  TimePoint end;
};

/// In order of time, without overlap and without what cannot be: garbage in the record stays out.
[[nodiscard]] std::vector<Iteration> sound_iterations(const record::RunRecord& run, const Timeline& timeline);

/// A pause no longer than an iteration belongs to the iteration before it, unless an epoch ends, an
/// evaluation runs or a checkpoint is written there.
[[nodiscard]] std::vector<Piece> partition_of(const std::vector<Iteration>& iterations,
                                              const Timeline& timeline);

}  // namespace rubato::analyse
