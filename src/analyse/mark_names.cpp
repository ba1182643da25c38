#include "analyse/mark_names.h"

#include <rubato/mark_layout.h>

#include <array>

#include "base/text.h"

namespace rubato::analyse {
namespace {

constexpr std::array<std::string_view, 18> kMarks = {
    "unknown",        "iteration_begin", "iteration_end", "epoch_begin", "epoch_end",    "phase_begin",
    "phase_end",      "layer_begin",     "layer_end",     "name",        "window_begin", "window_end",
    "training_begin", "training_end",    "hook",          "problem",     "point",        "model"};
static_assert(RUBATO_MARK_MODEL == kMarks.size() - 1);

constexpr std::array<std::string_view, 8> kPhases = {"unknown", "forward",    "backward",   "optimizer",
                                                     "data",    "evaluation", "checkpoint", "communication"};
static_assert(RUBATO_PHASE_COMMUNICATION == kPhases.size() - 1);

}  // namespace

std::string_view name_of_mark(std::int64_t kind) {
  return kind > 0 && kind < static_cast<std::int64_t>(kMarks.size()) ? kMarks[static_cast<std::size_t>(kind)]
                                                                     : kMarks[0];
}

std::string name_of_phase(std::uint64_t phase) {
  return phase > 0 && phase < kPhases.size() ? std::string(kPhases[phase]) : cat("phase ", phase);
}

std::optional<StretchMark> stretch_of_mark(std::string_view name) {
  constexpr std::string_view kBegin = "_begin";
  constexpr std::string_view kEnd = "_end";
  if (name.ends_with(kBegin)) return StretchMark{name.substr(0, name.size() - kBegin.size()), true};
  if (name.ends_with(kEnd)) return StretchMark{name.substr(0, name.size() - kEnd.size()), false};
  return std::nullopt;
}

}  // namespace rubato::analyse
