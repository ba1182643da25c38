#include "lab/restrict.h"

#include <algorithm>

#include "base/text.h"

namespace rubato::lab {
namespace {

bool named(std::span<const Knob> knobs, Knob knob) {
  return std::find(knobs.begin(), knobs.end(), knob) != knobs.end();
}

Status all_there(const Job& job, std::span<const Knob> knobs) {
  std::string has;
  for (const plan::KnobAxis& axis : job.space.axes) has += cat(has.empty() ? "" : ", ", name_of(axis.knob));
  for (const Knob knob : knobs)
    if (std::none_of(job.space.axes.begin(), job.space.axes.end(),
                     [&](const plan::KnobAxis& axis) { return axis.knob == knob; }))
      return fail(ErrorCode::invalid_argument,
                  cat("job '", job.name, "' has no ", name_of(knob), "; what may be set there: ", has));
  return {};
}

}  // namespace

Result<Job> restricted(const Job& job, std::span<const Knob> knobs) {
  if (const Status there = all_there(job, knobs); !there) return fail(there.error());
  Job out = job;
  out.space.found = predict::only(job.space.found, knobs);
  out.space.highest = predict::only(job.space.highest, knobs);
  std::erase_if(out.space.axes, [&](const plan::KnobAxis& axis) { return !named(knobs, axis.knob); });
  out.grid.clear();
  for (Truth& program : out.programs) {
    program.time.clear();
    program.energy.clear();
  }
  const plan::Position found = plan::position_of(job.space, job.space.found);
  for (std::size_t k = 0; k < job.grid.size(); ++k) {
    const plan::Position at = plan::position_of(job.space, job.grid[k]);
    bool kept = true;
    for (std::size_t a = 0; a < at.size(); ++a)
      kept = kept && (named(knobs, job.space.axes[a].knob) || at[a] == found[a]);
    if (!kept) continue;
    if (k == job.found) out.found = out.grid.size();
    out.grid.push_back(predict::only(job.grid[k], knobs));
    for (std::size_t p = 0; p < out.programs.size(); ++p) {
      out.programs[p].time.push_back(job.programs[p].time[k]);
      out.programs[p].energy.push_back(job.programs[p].energy[k]);
    }
  }
  return out;
}

}  // namespace rubato::lab
