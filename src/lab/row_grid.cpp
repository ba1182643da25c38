#include "lab/row_grid.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "base/text.h"
#include "core/sweep_workloads.h"
#include "device/sim/profile.h"

namespace rubato::lab {
namespace {

constexpr std::array kAxisOrder = {Knob::power_limit, Knob::sm_clock, Knob::memory_clock};
constexpr double kLimitStep = 1.0;  // W: what the driver's tools take
constexpr double kClockStep = 15;   // MHz: boards of which no profile is known

predict::KnobPoint point_of(const SweepRow& row) {
  return {row.power_limit, row.sm_clock, row.memory_clock};
}

/// "A100 PCIe 80GB" is the profile a100-pcie-80gb.
const device::sim::Profile* profile_of(const std::string& gpu) {
  if (const auto* board = device::sim::find_board(gpu)) return board;
  std::string name = gpu;
  for (char& c : name) c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto found = device::sim::find_profile(name);
  return found ? *found : nullptr;
}

std::vector<double> stepped(double low, double high, double step) {
  std::vector<double> out;
  for (int i = 0; low + step * i < high - 1e-6; ++i) out.push_back(low + step * i);
  out.push_back(high);
  return out;
}

std::vector<double> settable(const std::string& gpu, Knob knob, const std::vector<double>& rows) {
  if (knob == Knob::memory_clock) return rows;
  const double low = rows.front();
  const double high = rows.back();
  if (knob == Knob::power_limit) return stepped(low, high, kLimitStep);
  const device::sim::Profile* profile = profile_of(gpu);
  if (profile == nullptr) return stepped(low, high, kClockStep);
  std::set<double> out = {low, high};
  for (const Megahertz clock : profile->sm_clocks)
    if (clock.value() > low && clock.value() < high) out.insert(clock.value());
  return {out.begin(), out.end()};
}

}  // namespace

std::vector<Knob> varied_knobs(const SweepTable& table) {
  std::vector<Knob> out;
  for (const Knob knob : kAxisOrder) {
    std::set<double> values;
    for (const SweepRow& row : table.rows)
      if (const auto v = value_of(point_of(row), knob)) values.insert(*v);
    if (values.size() > 1) out.push_back(knob);
  }
  return out;
}

Result<std::vector<predict::Curve>> curves_along(const SweepTable& table, std::span<const Knob> knobs) {
  const auto workloads = workloads_of(table);
  if (!workloads) return fail(workloads.error());
  std::vector<bool> kept(table.rows.size(), true);
  for (const SweepWorkload& w : *workloads) {
    const predict::KnobPoint base = point_of(table.rows[w.default_row]);
    for (const Knob knob : kAxisOrder) {
      if (std::find(knobs.begin(), knobs.end(), knob) != knobs.end()) continue;
      for (const std::size_t i : w.rows)
        if (value_of(point_of(table.rows[i]), knob) != value_of(base, knob)) kept[i] = false;
    }
  }
  SweepTable part{.comments = table.comments, .rows = {}, .origin = {.name = table.origin.name, .lines = {}}};
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (!kept[i]) continue;
    part.rows.push_back(table.rows[i]);
    if (i < table.origin.lines.size()) part.origin.lines.push_back(table.origin.lines[i]);
  }
  return predict::curves_of(part, knobs);
}

Result<RowGrid> row_grid(const predict::Curve& curve, std::span<const Knob> knobs, Resolution resolution) {
  RowGrid out{.workload = curve.workload,
              .group = curve.group,
              .gpu = curve.known.gpu,
              .knobs = {},
              .axes = {},
              .time = {},
              .power = {},
              .found = curve.known.at_default.at,
              .features = curve.known.features,
              .default_assumed = curve.default_assumed};
  for (const Knob knob : knobs)
    if (!value_of(curve.known.highest, knob))
      return fail(ErrorCode::invalid_argument,
                  cat("no row of '", out.gpu, "' says where its ", name_of(knob), " stands; workload '",
                      curve.workload, "' cannot be replayed over it"),
                  cat("leave ", name_of(knob), " out of --knobs, or put each GPU into a table of its own"));
  const auto at_axis = [&](const predict::Observed& row, Knob knob) {
    const auto own = value_of(row.at, knob);
    return own ? *own : *value_of(curve.known.highest, knob);
  };
  std::size_t crossings = 1;
  for (const Knob knob : kAxisOrder) {
    if (std::find(knobs.begin(), knobs.end(), knob) == knobs.end()) continue;
    std::set<double> values;
    for (const predict::Observed& row : curve.rows) values.insert(at_axis(row, knob));
    if (values.size() < 2)
      return fail(ErrorCode::invalid_argument,
                  cat("workload '", curve.workload, "' has one ", name_of(knob), ", ", *values.begin(),
                      "; the lab needs at least two"),
                  cat("leave ", name_of(knob), " out of --knobs"));
    const std::vector<double> rows(values.begin(), values.end());
    out.knobs.push_back(knob);
    out.axes.push_back({rows, resolution == Resolution::table ? rows : settable(out.gpu, knob, rows)});
    crossings *= rows.size();
  }
  out.time.assign(crossings, 0);
  out.power.assign(crossings, 0);
  std::vector<bool> seen(crossings, false);
  for (const predict::Observed& row : curve.rows) {
    std::size_t at = 0;
    for (std::size_t a = 0; a < out.axes.size(); ++a) {
      const auto& x = out.axes[a].rows;
      const auto i = std::lower_bound(x.begin(), x.end(), at_axis(row, out.knobs[a])) - x.begin();
      at = at * x.size() + static_cast<std::size_t>(i);
    }
    out.time[at] = row.time.value();
    out.power[at] = row.power().value();
    seen[at] = true;
  }
  if (const auto missing = std::count(seen.begin(), seen.end(), false); missing > 0)
    return fail(ErrorCode::invalid_argument,
                cat("workload '", curve.workload, "' lacks ", missing, " of the ", crossings,
                    " crossings of its knobs' values; the lab interpolates along each knob in turn"),
                "measure them, or name one knob with --knobs");
  return out;
}

}  // namespace rubato::lab
