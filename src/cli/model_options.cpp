#include "cli/model_options.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "cli/wanted.h"

namespace rubato::cli {
namespace {

constexpr std::string_view kProbeHint = "as in --probe power-limit=150,time=12.5,power=140 (W, s, W)";

tl::unexpected<Error> bad_probe(const std::string& text, std::string_view why) {
  return fail(ErrorCode::invalid_argument, cat("--probe ", text, ": ", why), std::string(kProbeHint));
}

}  // namespace

Result<std::vector<Knob>> parse_knobs(const std::vector<std::string>& names) {
  std::vector<Knob> knobs;
  for (const std::string& name : names) {
    const auto knob = parse_tunable_knob(name);
    if (!knob) return fail(knob.error());
    if (std::find(knobs.begin(), knobs.end(), *knob) == knobs.end()) knobs.push_back(*knob);
  }
  return knobs;
}

Result<double> parse_positive(const std::string& option, const std::string& text) {
  const auto value = parse_number(text);
  if (!value || !std::isfinite(*value) || *value <= 0)
    return fail(ErrorCode::invalid_argument, cat(option, " is '", text, "' and must be a number above 0"));
  return *value;
}

Result<predict::Observed> parse_probe(const std::string& text) {
  predict::Observed probe;
  std::optional<double> time;
  std::optional<double> power;
  for (const std::string& part : split(text, ',')) {
    const auto sign = part.find('=');
    if (sign == std::string::npos) return bad_probe(text, cat("'", part, "' is no NAME=VALUE"));
    const std::string name = part.substr(0, sign);
    const auto value = parse_number(part.substr(sign + 1));
    if (!value || !std::isfinite(*value) || *value <= 0)
      return bad_probe(text, cat(name, " must be a number above 0"));
    if (name == "time") {
      time = *value;
    } else if (name == "power") {
      power = *value;
    } else if (name == name_of(Knob::power_limit)) {
      probe.at.power_limit = Watts(*value);
    } else if (name == name_of(Knob::sm_clock)) {
      probe.at.sm_clock = Megahertz(*value);
    } else if (name == name_of(Knob::memory_clock)) {
      probe.at.memory_clock = Megahertz(*value);
    } else {
      return bad_probe(text, cat("there is no '", name, "'"));
    }
  }
  if (!time || !power) return bad_probe(text, "time and power are needed");
  if (probe.at == predict::KnobPoint{}) return bad_probe(text, "no knob is named");
  probe.time = Seconds(*time);
  probe.energy = Watts(*power) * Seconds(*time);
  return probe;
}

Result<std::pair<std::string, double>> parse_feature(const std::string& text) {
  const auto sign = text.find('=');
  const auto value = sign == std::string::npos ? std::nullopt : parse_number(text.substr(sign + 1));
  if (!value || !std::isfinite(*value) || sign == 0)
    return fail(ErrorCode::invalid_argument, cat("--feature ", text, " is no NAME=NUMBER"),
                "as in --feature dram_active=0.4");
  return std::pair{text.substr(0, sign), *value};
}

}  // namespace rubato::cli
