#include "lab/suites/board_job.h"

#include <algorithm>

#include "base/text.h"
#include "lab/suites/steady_state.h"

namespace rubato::lab {
namespace {

using device::sim::Profile;

std::vector<double> values_of(const std::vector<Megahertz>& clocks, Megahertz low, Megahertz high) {
  std::vector<double> out;
  for (const Megahertz clock : clocks)
    if (clock >= low && clock <= high) out.push_back(clock.value());
  return out;
}

Result<plan::KnobAxis> axis_of(const Profile& board, Knob knob) {
  plan::KnobAxis out{.knob = knob, .values = {}};
  if (knob == Knob::power_limit) {
    if (board.can_set_power_limit)
      for (int i = 0; board.limit_min.value() + i <= board.limit_default.value(); ++i)
        out.values.push_back(board.limit_min.value() + i);
  } else if (knob == Knob::sm_clock) {
    if (board.has_sm_lock)
      out.values = values_of(board.sm_clocks, board.sm_lowest_reached, board.boost.highest);
  } else if (knob == Knob::memory_clock) {
    if (board.has_memory_lock)
      out.values = values_of(board.memory_clocks, board.memory_clocks.front(), board.memory_clocks.back());
  }
  if (out.values.size() < 2)
    return fail(ErrorCode::invalid_argument, cat(board.board, " has no ", name_of(knob), " to set"),
                "leave the knob out of --knobs");
  return out;
}

double found_value(const Profile& board, Knob knob) {
  if (knob == Knob::power_limit) return board.limit_default.value();
  return knob == Knob::sm_clock ? board.boost.highest.value() : board.memory_compute.value();
}

}  // namespace

Result<plan::KnobSpace> space_of(const Profile& board, std::span<const Knob> knobs) {
  plan::KnobSpace space{.gpu = board.board, .axes = {}, .found = {}, .highest = {}};
  plan::Position found;
  plan::Position top;
  for (const Knob knob : {Knob::power_limit, Knob::sm_clock, Knob::memory_clock}) {
    if (std::find(knobs.begin(), knobs.end(), knob) == knobs.end()) continue;
    auto axis = axis_of(board, knob);
    if (!axis) return fail(axis.error());
    const auto at = std::lower_bound(axis->values.begin(), axis->values.end(), found_value(board, knob));
    found.push_back(std::min(static_cast<std::size_t>(at - axis->values.begin()), axis->values.size() - 1));
    top.push_back(axis->values.size() - 1);
    space.axes.push_back(std::move(*axis));
  }
  if (space.axes.empty() || space.axes.size() != knobs.size())
    return fail(ErrorCode::invalid_argument, "suites know power-limit, sm-clock and memory-clock, each once",
                "rubato lab run --suite v100 --knobs power-limit,sm-clock");
  space.found = plan::point_at(space, found);
  space.highest = plan::point_at(space, top);
  return space;
}

Job empty_job(const plan::KnobSpace& space) {
  Job job;
  job.space = space;
  std::size_t settings = 1;
  for (const plan::KnobAxis& axis : space.axes) settings *= axis.values.size();
  job.grid = plan::candidates(space, settings);
  job.found =
      static_cast<std::size_t>(std::find(job.grid.begin(), job.grid.end(), space.found) - job.grid.begin());
  job.kind = Kind::modelled;
  return job;
}

Truth truth_of(const Profile& board, const Job& job, const Derived& derived, unsigned steps) {
  SteadyState steady(board, derived.segments);
  const SteadyPoint found = steady.at(job.space.found);
  const double energy = found.time.value() * found.power.value();
  Truth out;
  out.power = found.power;
  out.iteration = found.time * steps;
  out.time.reserve(job.grid.size());
  out.energy.reserve(job.grid.size());
  for (const predict::KnobPoint& at : job.grid) {
    const SteadyPoint point = steady.at(at);
    out.time.push_back(point.time / found.time);
    out.energy.push_back(point.time.value() * point.power.value() / energy);
  }
  out.features = {{"sm_active", found.sm_busy},
                  {"dram_active", found.memory_busy},
                  {"sm_utilisation", found.sm_busy},
                  {"memory_utilisation", found.memory_busy},
                  {"sm_clock_fraction", found.sm_clock / board.sm_clocks.back()}};
  // Of the products' pipe.
  out.features[derived.on_tensor_cores ? "tensor_active" : "fp32_active"] =
      derived.flops / found.time.value() / (derived.peak * (found.sm_clock / board.sm_reference));
  return out;
}

}  // namespace rubato::lab
