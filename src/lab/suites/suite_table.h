// The suites behind suites.h: how each is made.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/setting.h"
#include "lab/job.h"

namespace rubato::lab {

using Jobs = Result<std::vector<Job>>;

/// The trainings of gpoeo-71.csv on an RTX 3080 Ti.
[[nodiscard]] Jobs desktop_suite(std::span<const Knob> knobs);
/// Those of server-30.csv, with batches as large as the board's memory has it over 16 GB.
[[nodiscard]] Jobs server_suite(std::string_view board, std::span<const Knob> knobs);
/// The same on eight boards in step, each a little more or less efficient than the profile.
[[nodiscard]] Jobs uneven_boards_suite(std::span<const Knob> knobs);

/// Programs that do other work every few minutes.
[[nodiscard]] Jobs time_varying_suite(std::span<const Knob> knobs);
/// Pairs of trainings, one of which takes the other's place in mid-run.
[[nodiscard]] Jobs shift_pairs_suite(std::span<const Knob> knobs);

}  // namespace rubato::lab
