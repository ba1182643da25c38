// What could have been saved by somebody who knew every cost beforehand.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "govern/strategy.h"
#include "lab/cost_table.h"

namespace rubato::lab {

inline constexpr std::string_view kOracle = "oracle";

/// Of the energy and time of the run at the found setting.
struct Standing {
  double saving = 0;
  double slowdown = 0;
};

struct Oracles {
  std::size_t setting = 0;  // the best fixed one
  Standing fixed{};         // inside the bound
  Standing mixed{};         // two settings shared out over the run, inside the bound
};

[[nodiscard]] Oracles oracles_of(std::span<const RunCost> runs, std::size_t found, double max_slowdown);

/// Goes to `setting` at once and stays.
[[nodiscard]] std::unique_ptr<govern::Strategy> make_oracle(const Setting& setting);

/// A point of the time-energy plane, both over those at the found setting.
struct Point {
  double time = 0;
  double energy = 0;
};
/// The lower convex hull, from the least time to the least energy.
[[nodiscard]] std::vector<Point> lower_hull(std::vector<Point> points);
/// The least energy of a share of hull points whose mean time is at most `time`; 1 where none is as fast.
[[nodiscard]] Point best_share(std::span<const Point> hull, double time);

}  // namespace rubato::lab
