#include "predict/physical/question.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace rubato::predict::physical {
namespace {

/// This knob over its highest; 1 where nothing locks it.
template <class Unit>
Result<double> ratio(const std::optional<Unit>& here, const std::optional<Unit>& highest, const char* knob,
                     const Known& known) {
  if (!here) return 1.0;
  if (!highest || highest->value() <= 0 || here->value() <= 0)
    return fail(ErrorCode::invalid_argument,
                cat("nothing says how high the ", knob, " of ", known.gpu, " goes"),
                "name its highest value in the table, or leave that knob out");
  return here->value() / highest->value();
}

}  // namespace

Result<Asked> asked(const Known& known, std::span<const KnobPoint> at) {
  const double power = known.at_default.power().value();
  if (!(power > 0) || !std::isfinite(power) || known.at_default.time.value() <= 0)
    return fail(ErrorCode::invalid_argument,
                cat("the default of a workload on ", known.gpu, " has no time or no power"),
                "measure the default setting first");
  Asked out;
  for (const KnobPoint& point : at) {
    const auto limit = ratio(point.power_limit, known.highest.power_limit, "power limit", known);
    const auto sm = ratio(point.sm_clock, known.highest.sm_clock, "SM clock", known);
    const auto memory = ratio(point.memory_clock, known.highest.memory_clock, "memory clock", known);
    for (const auto* part : {&limit, &sm, &memory})
      if (!*part) return fail(part->error());
    out.places.emplace_back(std::log(*limit), std::log(*sm), std::log(*memory));
    Situation situation{.sm = *sm, .memory = *memory, .bandwidth = 1, .cap = {}};
    if (known.highest.power_limit) situation.cap = *limit * known.highest.power_limit->value() / power;
    out.situations.push_back(situation);
  }
  return out;
}

Schema schema_of(std::span<const Curve> curves) {
  Schema schema;
  if (curves.empty()) return schema;
  schema.by_limit = std::all_of(curves.begin(), curves.end(),
                                [](const Curve& c) { return c.known.highest.power_limit.has_value(); });
  for (const auto& [name, value] : curves.front().known.features)
    if (std::all_of(curves.begin(), curves.end(),
                    [&name = name](const Curve& c) { return c.known.features.contains(name); }))
      schema.features.push_back(name);
  return schema;
}

Eigen::VectorXd covariates_of(const Known& known, const Schema& schema, const Eigen::VectorXd& otherwise) {
  Eigen::VectorXd out = otherwise;
  const double power = known.at_default.power().value();
  if (!schema.by_limit)
    out[0] = std::log(power);
  else if (known.highest.power_limit)
    out[0] = std::log(power / known.highest.power_limit->value());
  for (std::size_t k = 0; k < schema.features.size(); ++k)
    if (const auto found = known.features.find(schema.features[k]); found != known.features.end())
      out[static_cast<Eigen::Index>(k) + 1] = found->second;
  return out;
}

}  // namespace rubato::predict::physical
