#include "device/sim/workload_model.h"

#include "base/json_fields.h"
#include "device/sim/embedded.h"

namespace rubato::device::sim {

Result<std::optional<TrainedModel>> parse_workload_model(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return fail(json.error());
  try {
    JsonFields workload(*json, "the workload");
    const nlohmann::json* model = workload.find("model");
    if (model == nullptr) return std::optional<TrainedModel>();
    JsonFields from(*model, "model");
    return std::optional<TrainedModel>({.name = from.text("name"),
                                        .parameters = from.number("parameters", 1, 1e15),
                                        .batch = from.whole<unsigned>("batch", 1),
                                        .precision = from.named("precision", &parse_precision)});
  } catch (const BadFigure& bad) {
    return fail(ErrorCode::invalid_argument, bad.what);
  }
}

std::optional<TrainedModel> model_of_workload(std::string_view name) {
  for (const std::string_view text : embedded_workloads()) {
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_object() && json.value("name", "") == name)
      return parse_workload_model(text).value_or(std::nullopt);
  }
  return std::nullopt;
}

}  // namespace rubato::device::sim
