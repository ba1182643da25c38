// Closes what a price of a second leaves open: the cheapest lap inside a budget of time, by labels of time
// and energy of which none is both slower and dearer than another at its place.
#pragma once

#include <optional>
#include <vector>

#include "plan/layers/lap_search.h"

namespace rubato::plan {

struct LabelBounds {
  double budget = 0;             // seconds of the lap
  double price = 0;              // J/s at which `to_go` was counted
  std::vector<double> to_go;     // LapSearch::all_to_go() at that price, of laps that end at `end`
  std::vector<double> quickest;  // the same for time alone
  double below = 0;              // joules: only a lap of less is looked for
};

struct LabelAnswer {
  bool complete = false;  // everything below was looked at
  std::optional<std::vector<std::size_t>> setting;
  double energy = 0;
};

/// Laps that begin and end at setting `end`; absent: at any, where switching costs nothing. `work`: labels
/// that may still be made; counted down.
[[nodiscard]] LabelAnswer label_search(const LapSearch& lap, std::optional<std::size_t> end,
                                       const LabelBounds& bounds, std::size_t& work);

}  // namespace rubato::plan
