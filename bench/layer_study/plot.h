// Small line plots as SVG: dark text on white, a logarithmic time axis, one panel beside the other.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace rubato::layer_study {

struct Curve {
  std::string name;
  std::vector<std::optional<double>> y;  // one for each x; absent: a gap
};

struct Panel {
  std::string title;
  std::vector<Curve> curves;  // named alike in all panels
};

struct Plot {
  std::string x_title;
  std::string y_title;
  std::vector<Seconds> x;  // ascending, above 0
  double low = 0;          // of y; what lies outside is drawn at the edge
  double high = 1;
  double step = 0.1;
  std::optional<std::pair<Seconds, std::string>> mark;  // a vertical line, with its name
  std::vector<Panel> panels;                            // two in a row
};

[[nodiscard]] std::string svg_of(const Plot& plot);

}  // namespace rubato::layer_study
