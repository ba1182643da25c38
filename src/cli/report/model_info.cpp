#include "cli/report/model_report.h"

namespace rubato::cli {
namespace {
using experiment::ModelFile;
using experiment::ModelGpu;
using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

Value fraction(const std::optional<double>& value) {
  if (!value) return Missing{"leaving one group out was not possible"};
  return Amount{*value, "", 4};
}

template <class Items>
std::string joined(const Items& items) {
  std::string out;
  for (const auto& item : items) out += cat(out.empty() ? "" : ", ", item);
  return out.empty() ? "none" : out;
}

std::vector<std::string_view> names_of(const std::vector<Knob>& knobs) {
  std::vector<std::string_view> out;
  out.reserve(knobs.size());
  for (const Knob knob : knobs) out.push_back(name_of(knob));
  return out;
}

Array array_of(const auto& items) {
  Array out;
  for (const auto& item : items) out.emplace_back(item);
  return out;
}

}  // namespace

Object model_json(const std::string& path, const ModelFile& model) {
  Array gpus;
  for (const ModelGpu& gpu : model.gpus)
    gpus.emplace_back(
        Object{{"name", gpu.name}, {"settings", static_cast<std::int64_t>(gpu.settings.size())}});
  return {{"schema", "rubato.model_info/1"},
          {"file", path},
          {"learner", model.learner},
          {"trained", model.trained},
          {"knobs", array_of(names_of(model.knobs))},
          {"gpus", std::move(gpus)},
          {"feature_schema", model.feature_schema},
          {"features", array_of(model.features)},
          {"table", model.table},
          {"fingerprint", model.fingerprint},
          {"rows", model.rows},
          {"workloads_distinct", model.workloads},
          {"groups", model.groups},
          {"time_mape_left_out", fraction(model.left_out.time)},
          {"energy_mape_left_out", fraction(model.left_out.energy)}};
}

void say_model(Page& page, const std::string& path, const ModelFile& model) {
  page.heading(cat("Model ", path));
  page.row("learner", model.learner);
  page.row("trained", model.trained);
  page.row("knobs", joined(names_of(model.knobs)));
  std::string gpus;
  for (const ModelGpu& gpu : model.gpus)
    gpus += cat(gpus.empty() ? "" : ", ", gpu.name, " (", gpu.settings.size(),
                gpu.settings.size() == 1 ? " setting)" : " settings)");
  page.row("GPUs", gpus);
  page.row("counters", cat(joined(model.features), "; schema ", model.feature_schema));
  page.row("data",
           cat(model.table.empty() ? "a table" : model.table, ": ", model.rows, " rows, ", model.workloads,
               model.workloads == 1 ? " distinct workload in " : " distinct workloads in ", model.groups,
               model.groups == 1 ? " group" : " groups"));
  page.row("fingerprint", model.fingerprint);
  if (model.left_out.time && model.left_out.energy) {
    page.row("mean error",
             cat("time ", percent(*model.left_out.time), ", energy ", percent(*model.left_out.energy),
                 "; of groups left out of training, from their default run alone"));
  } else {
    page.row("mean error", "not known: there was no group to leave out");
  }
}

}  // namespace rubato::cli
