#include "prediction_evidence/outcome.h"

#include "base/text.h"
#include "core/sweep_table_csv.h"
#include "core/sweep_workloads.h"
#include "predict/remembered.h"
#include "prediction_evidence/hindsight.h"
#include "prediction_evidence/informed.h"

namespace rubato::prediction_evidence {
namespace {

struct Read {
  std::vector<predict::Curve> curves;
  std::size_t workloads = 0;
};

Result<Read> read(const std::filesystem::path& tables, std::string_view name,
                  const std::vector<Knob>& knobs) {
  Read out;
  if (name.empty()) return out;
  const auto table = read_sweep_table(tables / cat(name, ".csv"));
  if (!table) return fail(table.error());
  const auto workloads = workloads_of(*table);
  if (!workloads) return fail(workloads.error());
  auto curves = predict::curves_of(*table, knobs);
  if (!curves) return fail(curves.error());
  out.curves = std::move(*curves);
  out.workloads = workloads->size();
  return out;
}

/// What is learnt does not depend on the probes: kept by learner and table.
const predict::Learner& remembered(const predict::Learner& learner, const Case& of) {
  struct Kept {
    std::unique_ptr<predict::Learner> parts;
    std::unique_ptr<predict::Remembered> all;
  };
  static std::map<std::string, Kept> kept;
  Kept& one = kept[cat(learner.name(), "\n", of.table, "\n", of.train)];
  if (!one.all) {
    one.parts = learner.remembering();
    one.all = std::make_unique<predict::Remembered>(one.parts ? *one.parts : learner);
  }
  return *one.all;
}

}  // namespace

Result<Outcome> judge(const Case& of, const std::filesystem::path& tables) {
  const auto table = read(tables, of.table, of.knobs);
  if (!table) return fail(table.error());
  const auto train = read(tables, of.train, of.knobs);
  if (!train) return fail(train.error());
  Outcome out{.of = of, .floor = experiment::noise_floor(table->curves), .choices = {}};
  const experiment::ValidationOptions floor_options{.probes = of.probes, .max_slowdown = kMaxSlowdown};
  const auto choices = floor_of_choices(table->curves, floor_options);
  if (!choices) return fail(choices.error());
  out.choices = *choices;
  for (const std::string_view name : kLearners) {
    const auto learner = predict::find_learner(name);
    if (!learner) continue;
    out.judged.push_back({std::string(name), experiment::validate(table->curves, table->workloads,
                                                                  {.learner = &remembered(**learner, of),
                                                                   .knobs = of.knobs,
                                                                   .probes = of.probes,
                                                                   .max_slowdown = kMaxSlowdown},
                                                                  train->curves)});
  }
  const bool probed = of.probes > 0;
  std::vector<experiment::Validation> models;
  for (const Judged& judged : out.judged)
    if (judged.found) models.push_back(*judged.found);
  if (!train->curves.empty()) {
    auto told = informed(table->curves, train->curves, of);
    if (!told) return fail(told.error());
    out.informed = *told;
  }
  std::optional<Neighbours> others;
  if (!probed) {
    if (train->curves.empty()) out.defaults = neighbours(table->curves, {}, true, kMaxSlowdown);
    others = neighbours(table->curves, train->curves, false, kMaxSlowdown);
  }
  out.hindsight = hindsight(models, probed, others);
  return out;
}

}  // namespace rubato::prediction_evidence
