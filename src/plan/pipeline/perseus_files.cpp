#include "plan/pipeline/perseus_files.h"

#include "base/text.h"

namespace rubato::plan {

std::string perseus_clocks(const PipelineSchedule& schedule, const ChosenPoint& chosen) {
  std::string out = "[\n";
  for (std::size_t stage = 0; stage < schedule.stages; ++stage) {
    out += "[";
    for (std::size_t i = schedule.first_of(stage); i < schedule.first_of(stage + 1); ++i)
      out += cat(i == schedule.first_of(stage) ? "" : ", ", "('", name_of(schedule.instructions[i].pass),
                 "', ", number(chosen.clocks[i].value()), ")");
    out += "],\n";
  }
  return cat(out, "]\n# time ", number(chosen.point.realised.time.value(), 6), " s, energy ",
             number(chosen.point.realised.energy.value(), 3), " J for one iteration\n");
}

std::string perseus_frontier(const Frontier& frontier) {
  const auto seconds = [](Seconds s) { return number(s.value(), 9); };
  const auto joules = [](Joules j) { return number(j.value(), 6); };
  std::string out = "time,energy,realised_time,realised_energy\n";
  for (const FrontierPoint& p : frontier.points)
    out += cat(seconds(p.continuous.time), ",", joules(p.continuous.energy), ",", seconds(p.realised.time),
               ",", joules(p.realised.energy), "\n");
  return out;
}

}  // namespace rubato::plan
