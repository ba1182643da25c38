#include "experiment/sweep_grid.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "plan/setting_of.h"

namespace rubato::experiment {
namespace {

constexpr std::string_view kExample = "write it as --knob power-limit=100:250:25 or --knob sm-clock=705,1005";
// Above any limit or clock there is: a slip of the keyboard, not a setting.
constexpr double kHighest = 1e6;

tl::unexpected<Error> wrong(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid_argument, cat("--knob ", text, ": ", why), std::string(kExample));
}

Result<double> positive(std::string_view text, std::string_view cell) {
  const auto value = parse_number(trim(cell));
  if (!value || !std::isfinite(*value) || *value <= 0 || *value > kHighest)
    return wrong(text, cat("'", cell, "' is no number of watts or megahertz"));
  return *value;
}

Result<std::vector<double>> values_of(std::string_view text, std::string_view right) {
  const bool range = right.find(':') != std::string_view::npos;
  std::vector<double> cells;
  for (const std::string& cell : split(right, range ? ':' : ',')) {
    const auto value = positive(text, cell);
    if (!value) return fail(value.error());
    cells.push_back(*value);
  }
  if (!range) return cells;
  if (cells.size() != 3) return wrong(text, "a range is LOWEST:HIGHEST:STEP");
  const double low = cells[0];
  const double high = cells[1];
  const double step = cells[2];
  if (high < low) return wrong(text, cat("it ends at ", high, ", below where it begins"));
  if ((high - low) / step >= static_cast<double>(kMostSettings))
    return wrong(text, cat("that is more than ", kMostSettings, " settings"));
  std::vector<double> values;
  // Half a thousandth of a step: 0.1 is not a binary number, and 3 of them shall be 0.3.
  for (std::size_t i = 0; low + static_cast<double>(i) * step <= high + step * 5e-4; ++i)
    values.push_back(low + static_cast<double>(i) * step);
  return values;
}

void put(predict::KnobPoint& point, Knob knob, double value) {
  if (knob == Knob::power_limit) point.power_limit = Watts(value);
  if (knob == Knob::sm_clock) point.sm_clock = Megahertz(value);
  if (knob == Knob::memory_clock) point.memory_clock = Megahertz(value);
}

}  // namespace

Result<KnobValues> parse_knob_values(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return wrong(text, "it has no '='");
  const auto knob = parse_knob(trim(text.substr(0, equals)));
  if (!knob || *knob == Knob::application_clocks)
    return wrong(text, "the knobs are power-limit, sm-clock and memory-clock");
  auto values = values_of(text, text.substr(equals + 1));
  if (!values) return fail(values.error());
  std::sort(values->begin(), values->end());
  values->erase(std::unique(values->begin(), values->end()), values->end());
  return KnobValues{*knob, std::move(*values)};
}

Result<std::vector<predict::KnobPoint>> grid_of(std::span<const KnobValues> knobs) {
  if (knobs.empty())
    return fail(ErrorCode::invalid_argument, "no --knob is given: there is nothing to sweep",
                std::string(kExample));
  std::vector<predict::KnobPoint> points(1);
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      if (knobs[j].knob == knobs[i].knob)
        return fail(ErrorCode::invalid_argument, cat("--knob ", name_of(knobs[i].knob), " is given twice"),
                    "put all its values into one list");
    if (points.size() * knobs[i].values.size() > kMostSettings)
      return fail(ErrorCode::invalid_argument,
                  cat("the grid has more than ", kMostSettings, " settings, each of them a run"),
                  "take wider steps");
    std::vector<predict::KnobPoint> wider;
    for (const auto& point : points) {
      for (const double value : knobs[i].values) {
        wider.push_back(point);
        put(wider.back(), knobs[i].knob, value);
      }
    }
    points = std::move(wider);
  }
  return points;
}

std::string describe(const predict::KnobPoint& point) {
  const Setting setting = plan::setting_of(point);
  return setting.empty() ? "as found" : rubato::describe(setting);
}

}  // namespace rubato::experiment
