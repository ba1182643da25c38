#include "device/replay/scenario.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/fs_root.h"
#include "base/text.h"

namespace rubato::device::replay {
namespace {

using Json = nlohmann::json;

Status take(ReplayOptions& options, const std::string& key, const Json& value) {
  const auto bad = [&](std::string_view needed) {
    return fail(ErrorCode::invalid_argument, cat("scenario: \"", key, "\" is ", value.dump(), "; ", needed));
  };
  if (key == "rate") {
    if (!value.is_number() || !(value.get<double>() > 0.0 && value.get<double>() <= 1000.0))
      return bad("it must lie above 0, up to 1000");
    options.rate = value.get<double>();
  } else if (key == "rights") {
    if (value != "owner" && value != "none") return bad("of a replayed GPU it can be owner, none");
    options.rights = value == "none" ? Rights::none : Rights::owner;
  } else if (key == "outlives_job") {
    if (!value.is_boolean()) return bad("it can be true, false");
    options.outlives_job = value.get<bool>();
  } else if (key == "found") {
    if (!value.is_object()) return bad("it should be an object");
    for (const auto& [knob, found] : value.items()) {
      if (knob != "power_limit_w" || !found.is_number())
        return bad("of a replayed GPU it can have a number \"power_limit_w\"");
      options.found_power_limit = Watts(found.get<double>());
    }
  } else if (key == "faults" && value.is_array() && value.empty()) {
    return {};
  } else {
    return fail(ErrorCode::not_supported,
                cat("scenario: a replayed GPU cannot obey \"", key, "\": a table tells nothing of it"),
                "leave it out, or use a simulated GPU: --gpu sim:v100");
  }
  return {};
}

}  // namespace

Result<ReplayOptions> parse_scenario(std::string_view json) {
  const Json scenario = Json::parse(json, nullptr, false);
  if (!scenario.is_object())
    return fail(ErrorCode::invalid_argument, "scenario: it should be one JSON object");
  ReplayOptions options;
  for (const auto& [key, value] : scenario.items())
    if (Status taken = take(options, key, value); !taken) return fail(taken.error());
  return options;
}

Result<ReplayOptions> scenario_from_environment() {
  const char* path = std::getenv("RUBATO_SIM_SCENARIO");
  if (path == nullptr || *path == '\0') return ReplayOptions{};
  const Result<std::string> text = read_small_file(path);
  if (!text) return fail(text.error());
  Result<ReplayOptions> options = parse_scenario(*text);
  if (!options) options.error().what = cat(path, ": ", options.error().what);
  return options;
}

}  // namespace rubato::device::replay
