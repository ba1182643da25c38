// Training a model file: learning, and learning again without each group.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "core/feature_schema.h"
#include "core/sweep_table_csv.h"
#include "core/sweep_workloads.h"
#include "experiment/fnv1a64.h"
#include "experiment/model_file.h"
#include "experiment/validation.h"

namespace rubato::experiment {
namespace {

std::vector<ModelGpu> gpus_of(const std::vector<predict::Curve>& curves) {
  std::map<std::string, ModelGpu> gpus;
  std::map<std::string, std::set<predict::KnobPoint>> settings;
  for (const predict::Curve& curve : curves) {
    gpus[curve.known.gpu] = {.name = curve.known.gpu, .highest = curve.known.highest, .settings = {}};
    for (const predict::Observed& row : curve.rows) settings[curve.known.gpu].insert(row.at);
  }
  std::vector<ModelGpu> out;
  for (auto& [name, gpu] : gpus) {
    gpu.settings.assign(settings[name].begin(), settings[name].end());
    out.push_back(std::move(gpu));
  }
  return out;
}

}  // namespace

Result<std::string> fingerprint_of(const SweepTable& table) {
  SweepTable plain = table;
  plain.comments.clear();
  const auto text = write_sweep_table(plain);
  if (!text) return fail(text.error());
  std::vector<std::string> lines = split(*text, '\n');
  std::sort(lines.begin(), lines.end());
  std::string canonical;
  for (const std::string& line : lines) canonical += line + "\n";
  return fnv1a64(canonical);
}

Result<ModelFile> train_model(const SweepTable& table, const TrainOptions& options) {
  auto curves = predict::curves_of(table, options.knobs);
  if (!curves) return fail(curves.error());
  auto model = options.learner->learn(*curves, options.knobs);
  if (!model) return fail(model.error());
  auto fingerprint = fingerprint_of(table);
  if (!fingerprint) return fail(fingerprint.error());
  ModelFile file{.learner = std::string(options.learner->name()),
                 .knobs = options.knobs,
                 .gpus = gpus_of(*curves),
                 .feature_schema = kFeatureSchemaVersion,
                 .features = {},
                 .table = std::filesystem::path(table.origin.name).filename().string(),
                 .fingerprint = std::move(*fingerprint),
                 .rows = table.rows.size(),
                 .workloads = curves->size(),
                 .groups = 0,
                 .trained = options.date,
                 .left_out = {},
                 .model = std::move(*model)};
  for (const auto& [name, value] : curves->front().known.features) file.features.push_back(name);
  std::set<std::string> groups;
  for (const predict::Curve& curve : *curves) groups.insert(curve.group);
  file.groups = groups.size();
  if (groups.size() < 2) return file;
  ValidationOptions without_each{.learner = options.learner, .knobs = options.knobs};
  if (options.progress) {
    options.progress(1, groups.size() + 1);
    without_each.progress = [&options](std::size_t done, std::size_t all) {
      options.progress(done + 1, all + 1);
    };
  }
  const auto validated = validate(*curves, curves->size(), without_each);
  // One group fewer can be too few for a learner that could just learn from all: its errors stay unknown.
  if (validated) file.left_out = {.time = validated->errors.time, .energy = validated->errors.energy};
  return file;
}

}  // namespace rubato::experiment
