// What could have been saved by somebody who knows what every program of a job costs at every setting, and
// changes the setting with the program: all of them at one price of a second. One knows the whole run
// beforehand; the other knows no more of it than has happened, and is inside the bound at every moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "govern/strategy.h"
#include "lab/cost_table.h"
#include "lab/job.h"
#include "lab/noise.h"

namespace rubato::lab {

inline constexpr std::string_view kPhaseOracle = "oracle-phases";
inline constexpr std::string_view kCausalOracle = "oracle-causal";
inline constexpr std::string_view kCausalMeasuredOracle = "oracle-causal-measured";

/// What one program does: so much of its work at the slower setting, the rest at the faster.
struct ProgramShare {
  std::size_t faster = 0;
  std::size_t slower = 0;
  double part = 0;
};

/// `work`: of each program, seconds over those the cost table gives, and joules over those it gives, summed
/// over its iterations; zero: it has not run, and is given what the price says. The seconds beyond those at
/// the found setting, `lose` of them, go where one saves most: greedily along the lower hulls, which is the
/// least energy there is for the time.
[[nodiscard]] std::vector<ProgramShare> share_out(const CostTable& costs, std::size_t found,
                                                  std::span<const RunCost> work, double lose, Watts host);

/// Shares out the whole run, known beforehand.
[[nodiscard]] std::unique_ptr<govern::Strategy> make_phase_oracle(const Job& job, const CostTable& costs,
                                                                  const Draw& draw, std::int64_t iterations,
                                                                  double max_slowdown, Watts host);

/// Knows each program when its first iteration begins. Shares out what the bound leaves as if as much again
/// were ahead of each program as there was of it so far; no iteration takes the run beyond its bound. One
/// rule among others: nobody can know which is best without knowing what comes. With `noise` (standard
/// deviation of an iteration's time as observed, relative) it counts a slowdown only as far as it was
/// measured, program by program: Vouching says how long each is at the found setting for that.
[[nodiscard]] std::unique_ptr<govern::Strategy> make_causal_oracle(const Job& job, const CostTable& costs,
                                                                   const Draw& draw, double max_slowdown,
                                                                   Watts host,
                                                                   std::optional<double> noise = {});

}  // namespace rubato::lab
