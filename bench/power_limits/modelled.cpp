#include "power_limits/modelled.h"

#include "sim_facts/runs.h"

namespace rubato::limits {

SweepTable modelled(const std::string& profile, Watts step) {
  const auto& board = facts::board(profile);
  SweepTable out;
  for (const facts::Program& program : facts::all_programs()) {
    for (Watts limit = board.limit_default; limit >= board.limit_min; limit -= step) {
      const facts::Cost cost = facts::steady(profile, program, {.limit = limit, .sm = {}, .memory = {}});
      SweepRow row;
      row.gpu = board.board;
      row.workload = row.group = program.name;
      row.power_limit = limit;
      row.time = Seconds(cost.seconds);
      row.energy = Joules(cost.joules);
      row.power = Watts(cost.watts);
      row.is_default = limit == board.limit_default;
      out.rows.push_back(std::move(row));
    }
  }
  return out;
}

}  // namespace rubato::limits
