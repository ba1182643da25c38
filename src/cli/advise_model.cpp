#include "cli/advise_model.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "core/sweep_table_csv.h"
#include "experiment/advise/built_in.h"
#include "experiment/advise/shipped.h"
#include "experiment/advise/unseen.h"
#include "experiment/model_file.h"
#include "predict/curve.h"
#include "record/writer.h"

namespace rubato::cli {
namespace {

// The learners stand in the order of preference.
Result<AdviceModel> learnt_from(const std::string& file, std::span<const Knob> knobs, const Goal& goal,
                                const plan::Caution& caution) {
  const auto table = read_sweep_table(file);
  if (!table) return fail(table.error());
  const auto curves = predict::curves_of(*table, knobs);
  if (!curves) return fail(curves.error());
  const auto learner = predict::find_learner(predict::learner_names().front());
  if (!learner) return fail(learner.error());
  auto model = (*learner)->learn(*curves, knobs);
  if (!model) return fail(model.error());
  AdviceModel out{std::move(*model), {}};
  out.facts.name = cat((*learner)->name(), ", learnt from ", std::filesystem::path(file).filename().string());
  for (const predict::Curve& curve : *curves) {
    auto& seen = out.facts.gpus_seen;
    if (std::find(seen.begin(), seen.end(), curve.known.gpu) == seen.end()) seen.push_back(curve.known.gpu);
  }
  out.facts.knobs.assign(knobs.begin(), knobs.end());
  out.facts.on_unseen_gpus = experiment::saving_on_unseen_gpus(*curves, **learner, knobs, goal, caution);
  return out;
}

AdviceModel from_file(const experiment::ModelFile& file, std::string_view name) {
  AdviceModel out{file.model, {}};
  out.facts.name = cat(name, " (", file.learner, ", learnt from ", file.table, ")");
  out.facts.knobs = file.knobs;
  for (const experiment::ModelGpu& gpu : file.gpus) out.facts.gpus_seen.push_back(gpu.name);
  return out;
}

bool tells(const experiment::ModelFile& file, std::string_view gpu, std::span<const Knob> knobs) {
  const bool seen = std::any_of(file.gpus.begin(), file.gpus.end(), [&](const experiment::ModelGpu& known) {
    return experiment::same_board(known.name, gpu);
  });
  return seen && std::all_of(knobs.begin(), knobs.end(), [&](Knob knob) {
           return std::find(file.knobs.begin(), file.knobs.end(), knob) != file.knobs.end();
         });
}

/// The newest that has seen this GPU under these knobs. What cannot be read is said and passed over.
std::optional<AdviceModel> kept_for(std::string_view gpu, std::span<const Knob> knobs) {
  const auto folder = kept_models_folder();
  if (!folder) return std::nullopt;
  std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(*folder, error)) {
    std::error_code unread;
    const auto time = entry.last_write_time(unread);
    if (!unread && entry.path().extension() == ".json") files.emplace_back(time, entry.path());
  }
  std::sort(files.rbegin(), files.rend());
  for (const auto& [time, path] : files) {
    const auto file = experiment::read_model_file(path);
    if (!file)
      log::warning(file.error());
    else if (tells(*file, gpu, knobs))
      return from_file(*file, path.filename().string());
  }
  return std::nullopt;
}

/// Of the models that rubato carries, the one that has seen this GPU under these knobs.
std::optional<AdviceModel> shipped_for(std::string_view gpu, std::span<const Knob> knobs) {
  for (const experiment::ShippedModel& shipped : experiment::shipped_models()) {
    const auto file = experiment::parse_model_file(shipped.text, shipped.name);
    if (!file)
      log::warning(file.error());
    else if (tells(*file, gpu, knobs)) {
      AdviceModel model = from_file(*file, cat("the carried model ", shipped.name));
      model.facts.highest_limit = file->gpus.front().highest.power_limit;
      return model;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::filesystem::path> kept_models_folder() {
  const auto runs = record::default_directory();
  if (!runs) return fail(runs.error());
  return runs->parent_path() / "models";
}

Result<AdviceModel> model_for_advice(const ModelWish& wish, std::string_view gpu, std::span<const Knob> knobs,
                                     const Goal& goal, const plan::Caution& caution) {
  if (!wish.table.empty()) return learnt_from(wish.table, knobs, goal, caution);
  if (!wish.file.empty()) {
    const auto file = experiment::read_model_file(wish.file);
    if (!file) return fail(file.error());
    AdviceModel named = from_file(*file, std::filesystem::path(wish.file).filename().string());
    if (const Status fine = experiment::check_knobs(named.facts, knobs); !fine) return fail(fine.error());
    return named;
  }
  if (auto kept = kept_for(gpu, knobs)) return std::move(*kept);
  if (auto shipped = shipped_for(gpu, knobs)) return std::move(*shipped);
  auto model = experiment::built_in_model(knobs);
  if (!model) return fail(model.error());
  return AdviceModel{std::move(*model), experiment::built_in_facts()};
}

}  // namespace rubato::cli
