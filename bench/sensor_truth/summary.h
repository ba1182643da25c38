// Shares and quantiles over many trials.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sensor_truth/trial.h"

namespace rubato::truth {

struct Summary {
  std::size_t runs = 0;
  double sampling = 0;  // shares of runs whose truth lies inside
  double uncalibrated = 0;
  double calibrated = 0;
  double median_width = 0;        // half width over energy
  double tenth_widest = 0;        // its 90th percentile
  double uncalibrated_width = 0;  // medians
  double calibrated_width = 0;
};

using Choose = std::function<bool(const Trial&)>;
/// Of the windows of 5 s and more, or of the brief ones.
[[nodiscard]] Summary summarise(const std::vector<Trial>& trials, const Choose& choose,
                                Judged Trial::*which = &Trial::window);
/// Their names in order.
[[nodiscard]] std::vector<std::string> kinds_of(const std::vector<Trial>& trials);

/// The page docs/sensors.md.
void print_page(const Table& table, const std::vector<Trial>& trials, std::uint64_t seed);

}  // namespace rubato::truth
