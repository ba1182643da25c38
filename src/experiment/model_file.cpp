#include "experiment/model_file.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/json_figures.h"
#include "base/text.h"
#include "core/feature_schema.h"
#include "experiment/fnv1a64.h"

namespace rubato::experiment {
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "rubato.model/1";
constexpr std::uintmax_t kMostBytes = 256U << 20U;

json point_json(const predict::KnobPoint& at) {
  json out = json::object();
  if (at.power_limit) out["power_limit_w"] = at.power_limit->value();
  if (at.sm_clock) out["sm_clock_mhz"] = at.sm_clock->value();
  if (at.memory_clock) out["memory_clock_mhz"] = at.memory_clock->value();
  return out;
}

predict::KnobPoint point_of(const json& value) {
  predict::KnobPoint at;
  if (value.contains("power_limit_w")) at.power_limit = Watts(value.at("power_limit_w").get<double>());
  if (value.contains("sm_clock_mhz")) at.sm_clock = Megahertz(value.at("sm_clock_mhz").get<double>());
  if (value.contains("memory_clock_mhz"))
    at.memory_clock = Megahertz(value.at("memory_clock_mhz").get<double>());
  return at;
}

json optional_json(const std::optional<double>& value) {
  return value ? json(*value) : json(nullptr);
}

std::optional<double> optional_of(const json& value) {
  if (value.is_null()) return std::nullopt;
  return value.get<double>();
}

std::string checksum_of(const json& document) {
  return fnv1a64(document.dump(-1, ' ', false, json::error_handler_t::replace));
}

json document_of(const ModelFile& file) {
  json knobs = json::array();
  for (const Knob knob : file.knobs) knobs.push_back(std::string(name_of(knob)));
  json gpus = json::array();
  for (const ModelGpu& gpu : file.gpus) {
    json settings = json::array();
    for (const auto& at : gpu.settings) settings.push_back(point_json(at));
    gpus.push_back({{"name", gpu.name}, {"highest", point_json(gpu.highest)}, {"settings", settings}});
  }
  return {{"schema", kSchema},
          {"learner", file.learner},
          {"trained", file.trained},
          {"knobs", knobs},
          {"gpus", gpus},
          {"feature_schema", file.feature_schema},
          {"features", file.features},
          {"data",
           {{"table", file.table},
            {"fingerprint", file.fingerprint},
            {"rows", file.rows},
            {"workloads_distinct", file.workloads},
            {"groups", file.groups}}},
          {"left_out",
           {{"time_mape", optional_json(file.left_out.time)},
            {"energy_mape", optional_json(file.left_out.energy)}}},
          {"state", file.model->state()}};
}

Result<ModelFile> file_of(const json& document) {
  ModelFile file;
  file.learner = document.at("learner").get<std::string>();
  file.trained = document.at("trained").get<std::string>();
  for (const json& name : document.at("knobs")) {
    const auto knob = parse_knob(name.get<std::string>());
    if (!knob) return fail(knob.error());
    file.knobs.push_back(*knob);
  }
  for (const json& gpu : document.at("gpus")) {
    ModelGpu one{
        .name = gpu.at("name").get<std::string>(), .highest = point_of(gpu.at("highest")), .settings = {}};
    for (const json& at : gpu.at("settings")) one.settings.push_back(point_of(at));
    file.gpus.push_back(std::move(one));
  }
  file.feature_schema = whole_of<unsigned>(document.at("feature_schema"));
  if (file.feature_schema != kFeatureSchemaVersion)
    return fail(
        ErrorCode::not_supported,
        cat("its counters are of schema ", file.feature_schema, ", this rubato's of ", kFeatureSchemaVersion),
        "train it again: rubato model train");
  file.features = document.at("features").get<std::vector<std::string>>();
  const json& data = document.at("data");
  file.table = data.at("table").get<std::string>();
  file.fingerprint = data.at("fingerprint").get<std::string>();
  file.rows = whole_of<std::size_t>(data.at("rows"));
  file.workloads = whole_of<std::size_t>(data.at("workloads_distinct"));
  file.groups = whole_of<std::size_t>(data.at("groups"));
  file.left_out = {.time = optional_of(document.at("left_out").at("time_mape")),
                   .energy = optional_of(document.at("left_out").at("energy_mape"))};
  const auto learner = predict::find_learner(file.learner);
  if (!learner) return fail(learner.error());
  auto model = (*learner)->read(document.at("state"));
  if (!model) return fail(model.error());
  file.model = std::move(*model);
  return file;
}

Result<ModelFile> parse(std::string_view text) try {
  json document;
  try {
    document = json::parse(text);
  } catch (const json::parse_error& error) {
    return fail(ErrorCode::corrupt, cat("no JSON from byte ", error.byte, " of ", text.size(),
                                        " on: is it cut off, or no model?"));
  }
  if (!document.is_object() || !document.contains("schema") || !document["schema"].is_string())
    return fail(ErrorCode::corrupt, cat("no model: it names no schema, and needs ", kSchema));
  if (const auto schema = document["schema"].get<std::string>(); schema != kSchema)
    return fail(ErrorCode::not_supported, cat("of schema ", schema, "; this rubato reads ", kSchema),
                "train it again: rubato model train");
  const std::string said = document.at("checksum").get<std::string>();
  document.erase("checksum");
  if (const std::string found = checksum_of(document); said != found)
    return fail(ErrorCode::corrupt,
                cat("changed since it was written: its checksum is ", found, ", and it says ", said),
                "train it again: rubato model train");
  return file_of(document);
} catch (const json::exception&) {
  return fail(ErrorCode::corrupt, "a member is missing or of another type (docs/formats.md)");
}

}  // namespace

std::string write_model_file(const ModelFile& file) {
  json document = document_of(file);
  document["checksum"] = checksum_of(document);
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<ModelFile> parse_model_file(std::string_view text, std::string_view name) {
  auto file = parse(text);
  if (!file) return fail(file.error().code, cat(name, ": ", file.error().what), file.error().hint);
  return file;
}

Result<ModelFile> read_model_file(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return fail(from_errno(error.value(), cat("cannot read ", path.string())));
  if (size > kMostBytes)
    return fail(ErrorCode::invalid_argument,
                cat(path.string(), " has ", size, " bytes; a model has at most ", kMostBytes));
  std::ifstream stream(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream) return fail(ErrorCode::io, cat("cannot read ", path.string()));
  return parse_model_file(text, path.string());
}

Result<const ModelGpu*> ModelFile::gpu(std::string_view name) const {
  std::string seen;
  for (const ModelGpu& gpu : gpus) {
    if (gpu.name == name) return &gpu;
    seen += cat(seen.empty() ? "" : ", ", "'", gpu.name, "'");
  }
  return fail(ErrorCode::not_supported, cat("the model never saw a '", name, "'; it learned from ", seen),
              "sweep that GPU and train a model from its table: rubato sweep, rubato model train");
}

}  // namespace rubato::experiment
