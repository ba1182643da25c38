// What a run was to reach, and what was expected of settings.
#include <map>

#include "record/schema.h"
#include "record/tables.h"

namespace rubato::record {
namespace {

ExpectedRatio ratio(Statement& row) {
  ExpectedRatio out;
  out.value = row.real();
  out.low = row.real();
  out.high = row.real();
  return out;
}

void read_goal(Tables& t) {
  t.read.each(cat("SELECT at_ns,strategy,objective,max_slowdown_fraction,host_w,second_w,idle_w,",
                  t.version < 6 ? "NULL" : "power_budget_w", " FROM goal"),
              [&t](Statement& row) {
                GoalInForce& g = t.out.goal.emplace();
                g.at = row.time();
                g.strategy = row.text();
                g.goal.objective = t.read.checked(parse_objective(row.text()), Objective::energy);
                g.goal.max_slowdown = row.real();
                g.goal.host_watts = row.optional_quantity<Watts>();
                g.goal.second = row.optional_quantity<Watts>();
                g.goal.idle = row.optional_quantity<Watts>();
                g.goal.power_budget = row.optional_quantity<Watts>();
              });
}

void read_expectations(Tables& t) {
  std::map<std::int64_t, std::size_t> place;
  t.read.each("SELECT id,at_ns FROM expectation ORDER BY id", [&](Statement& row) {
    place[row.integer()] = t.out.expectations.size();
    t.out.expectations.push_back({row.time(), {}});
  });
  t.read.each(
      cat("SELECT expectation_id,", setting_columns(""),
          ",time_ratio,time_ratio_low,time_ratio_high,energy_ratio,energy_ratio_low,energy_ratio_high,"
          "holds_probability,measured,on_curve FROM expected_setting ORDER BY rowid"),
      [&](Statement& row) {
        const auto of = place.find(row.integer());
        if (of == place.end())
          return t.read.corrupt("an expected setting names what is not in table expectation");
        ExpectedSetting& s = t.out.expectations[of->second].expectation.settings.emplace_back();
        s.setting = row.setting();
        s.time = ratio(row);
        s.energy = ratio(row);
        s.holds = row.real();
        s.measured = row.integer() != 0;
        s.on_curve = row.integer() != 0;
      });
}

}  // namespace

void read_expected(Tables& tables) {
  if (tables.version < 5) return;
  read_goal(tables);
  read_expectations(tables);
}

}  // namespace rubato::record
