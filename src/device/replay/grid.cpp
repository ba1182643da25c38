#include "device/replay/grid.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "core/sweep_workloads.h"

namespace rubato::device::replay {
namespace {

constexpr Knob kKnobs[] = {Knob::power_limit, Knob::sm_clock, Knob::memory_clock};

std::optional<double> value_of(const SweepRow& row, Knob knob) {
  if (knob == Knob::power_limit && row.power_limit) return row.power_limit->value();
  if (knob == Knob::sm_clock && row.sm_clock) return row.sm_clock->value();
  if (knob == Knob::memory_clock && row.memory_clock) return row.memory_clock->value();
  return std::nullopt;
}

// Energy is what is billed, so power is what makes it: tables round the two on their own.
Point point_of(const SweepRow& row) {
  return {.time = row.time, .power = row.energy / row.time};
}

bool sets_nothing(const SweepRow& row) {
  return !row.power_limit && !row.sm_clock && !row.memory_clock;
}

/// The knobs that `rows` set to several values. Where none does and the default sets nothing, those that they
/// set at all.
std::vector<Axis> axes_of(const std::vector<const SweepRow*>& rows, bool default_apart) {
  std::vector<Axis> several;
  std::vector<Axis> one;
  for (const Knob knob : kKnobs) {
    std::set<double> values;
    for (const SweepRow* row : rows)
      if (const auto value = value_of(*row, knob)) values.insert(*value);
    const bool left_out =
        std::any_of(rows.begin(), rows.end(), [knob](const SweepRow* row) { return !value_of(*row, knob); });
    if (values.size() > 1 || (values.size() == 1 && left_out))
      several.push_back({knob, {values.begin(), values.end()}});
    if (values.size() == 1 && !left_out) one.push_back({knob, {values.begin(), values.end()}});
  }
  return several.empty() && default_apart ? one : several;
}

std::string setting_of(const std::vector<Axis>& axes, const Place& place) {
  std::string out;
  for (std::size_t i = 0; i < axes.size(); ++i)
    out += cat(i == 0 ? "" : ", ", name_of(axes[i].knob), " ", number(place[i]));
  return out;
}

/// In the surface's order; an error names the first combination that no row has.
Result<std::vector<Point>> points_of(const std::vector<Axis>& axes, const std::map<Place, Point>& measured,
                                     std::string_view title) {
  const std::vector<double> none{0.0};
  const std::vector<double>& first = axes.empty() ? none : axes[0].values;
  const std::vector<double>& second = axes.size() < 2 ? none : axes[1].values;
  std::vector<Point> points;
  for (const double b : second)
    for (const double a : first) {
      const auto found = measured.find({a, b});
      if (found == measured.end())
        return fail(ErrorCode::invalid_argument,
                    cat(title, ": the grid has a hole: no row at ", setting_of(axes, {a, b})),
                    "replay needs every combination of the values its knobs take");
      points.push_back(found->second);
    }
  return points;
}

}  // namespace

Result<Grid> grid_of(const SweepTable& table) {
  const auto workloads = workloads_of(table);
  if (!workloads) return fail(workloads.error());
  if (workloads->size() != 1)
    return fail(ErrorCode::internal, cat("a replay of ", workloads->size(), " workloads at once"));
  const SweepWorkload& workload = workloads->front();
  const std::string title = cat("workload '", workload.workload, "'");
  const SweepRow& default_row = table.rows[workload.default_row];

  // Clocks left alone are a state of their own, which need not be on the curve. A limit is always some limit.
  const bool default_apart = sets_nothing(default_row) && table.rows.size() > 1;
  std::vector<const SweepRow*> rows;
  for (const SweepRow& row : table.rows)
    if (!default_apart || &row != &default_row) rows.push_back(&row);
  std::vector<Axis> axes = axes_of(rows, default_apart);
  if (axes.size() > kMostAxes)
    return fail(ErrorCode::not_supported,
                cat(title, " sweeps ", axes.size(), " knobs together; replay knows at most ", kMostAxes));
  const auto no_place = [&](const Axis& axis) {
    return fail(ErrorCode::invalid_argument,
                cat(title, ": a row leaves ", name_of(axis.knob),
                    " empty where others set it, so its place on the curve is not known"),
                "write into it what was in force");
  };
  if (default_apart && (axes.size() > 1 || axes.front().knob == Knob::power_limit))
    return no_place(axes.front());
  std::map<Place, Point> measured;
  for (const SweepRow* row : rows) {
    Place place{};
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto value = value_of(*row, axes[i].knob);
      if (!value) return no_place(axes[i]);
      place[i] = *value;
    }
    measured.emplace(place, point_of(*row));
  }
  const auto points = points_of(axes, measured, title);
  if (!points) return fail(points.error());
  return Grid{.surface = Surface(std::move(axes), *points),
              .default_row = default_row,
              .default_assumed = workload.default_assumed,
              .off_curve = default_apart ? std::optional(point_of(default_row)) : std::nullopt};
}

}  // namespace rubato::device::replay
