#include "prediction_evidence/informed.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiment/held_out.h"
#include "predict/model.h"
#include "predict/remembered.h"

namespace rubato::prediction_evidence {
namespace {

using predict::Curve;

Result<experiment::Validation> judged_by(const predict::Learner& learner, std::span<const Curve> curves,
                                         std::span<const Curve> train, const Case& of) {
  experiment::Validation out;
  const experiment::ValidationOptions options{
      .knobs = of.knobs, .probes = of.probes, .max_slowdown = kMaxSlowdown};
  for (const Curve& held_out : curves) {
    std::vector<Curve> seen(train.begin(), train.end());
    for (const Curve& other : curves)
      if (other.group != held_out.group) seen.push_back(other);
    const auto model = learner.learn(seen, of.knobs);
    if (!model) return fail(model.error());
    auto judged = experiment::judge(**model, held_out, options);
    if (!judged) return fail(judged.error());
    out.judged.push_back(std::move(*judged));
  }
  experiment::summarise(out);
  return out;
}

}  // namespace

Result<Neighbours> informed(std::span<const Curve> curves, std::span<const Curve> train, const Case& of) {
  static std::map<std::string_view, std::unique_ptr<predict::Remembered>> kept;  // whatever the probes are
  std::optional<Neighbours> best;
  for (const std::string_view name : {"physical", "shared-curve"}) {
    const auto learner = predict::find_learner(name);
    if (!learner) return fail(learner.error());
    auto& remembered = kept[name];
    if (!remembered) remembered = std::make_unique<predict::Remembered>(**learner);
    const auto found = judged_by(*remembered, curves, train, of);
    if (!found) return fail(found.error());
    const Neighbours here{found->errors.time.value_or(0), found->errors.energy.value_or(0),
                          found->energy_regret, found->at_bound.captured.value_or(0)};
    if (!best) best = here;
    best = Neighbours{std::min(best->time, here.time), std::min(best->energy, here.energy),
                      std::min(best->regret, here.regret), std::max(best->captured, here.captured)};
  }
  return *best;
}

}  // namespace rubato::prediction_evidence
