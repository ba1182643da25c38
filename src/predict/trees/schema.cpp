#include "predict/trees/schema.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_figures.h"
#include "base/text.h"

namespace rubato::predict::trees {
namespace {

constexpr std::string_view kMostSeen = "default_power_over_most_seen";

/// The knob at `at`; an absent one is at its highest.
std::optional<double> stands(const Known& known, const KnobPoint& at, Knob knob) {
  const auto set = value_of(at, knob);
  return set ? set : value_of(known.highest, knob);
}

std::string column_of(Knob knob) {
  std::string name(name_of(knob));
  std::replace(name.begin(), name.end(), '-', '_');
  return name + "_over_default";
}

bool has(const std::vector<Knob>& knobs, Knob knob) {
  return std::find(knobs.begin(), knobs.end(), knob) != knobs.end();
}

std::string list(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += cat(out.empty() ? "" : ", ", name);
  return out.empty() ? "none" : out;
}

}  // namespace

void Schema::name_columns() {
  names_.clear();
  for (const Knob knob : knobs_) names_.push_back(column_of(knob));
  if (has(knobs_, Knob::power_limit)) {
    names_.emplace_back("power_limit_over_default_power");
    names_.emplace_back("default_power_over_default_limit");
  } else {
    names_.emplace_back(kMostSeen);
  }
  for (const std::string& counter : counters_) names_.push_back("feature_" + counter);
}

Result<Schema> Schema::of(std::span<const Curve> curves, std::span<const Knob> knobs) {
  Schema schema;
  schema.knobs_.assign(knobs.begin(), knobs.end());
  if (curves.empty() || knobs.empty())
    return fail(ErrorCode::invalid_argument, "boosted trees need at least one knob and one workload");
  for (const auto& [name, value] : curves.front().known.features) schema.counters_.push_back(name);
  for (const Curve& curve : curves) {
    double& most = schema.most_power_[curve.known.gpu];
    most = std::max(most, curve.known.at_default.power().value());
    if (const Status fine = schema.check(curve.known); !fine)
      return fail(fine.error().code, cat("workload '", curve.workload, "': ", fine.error().what),
                  fine.error().hint);
  }
  schema.name_columns();
  return schema;
}

Status Schema::check(const Known& known) const {
  for (const Knob knob : knobs_)
    if (!stands(known, known.at_default.at, knob))
      return fail(ErrorCode::invalid_argument,
                  cat("the model needs the ", name_of(knob), " of the default setting, which is not known"));
  std::vector<std::string> lacking;
  for (const std::string& counter : counters_)
    if (!known.features.contains(counter)) lacking.push_back(counter);
  if (!lacking.empty())
    return fail(ErrorCode::invalid_argument,
                cat("the model learned with counters that are not known of this workload: ", list(lacking)),
                "measure them at the default setting, or train a model without them");
  if (known.at_default.time.value() <= 0 || known.at_default.energy.value() <= 0)
    return fail(ErrorCode::invalid_argument, "time and energy at the default setting must be above 0");
  return {};
}

Result<Features> Schema::rows(const Known& known, std::span<const KnobPoint> at) const {
  if (const Status fine = check(known); !fine) return fail(fine.error());
  const double power = known.at_default.power().value();
  std::vector<double> defaults;
  for (const Knob knob : knobs_) defaults.push_back(*stands(known, known.at_default.at, knob));
  Features out{.columns = names_.size(), .values = {}};
  out.values.reserve(at.size() * names_.size());
  const auto put = [&](double value) { out.values.push_back(static_cast<float>(value)); };
  for (const KnobPoint& point : at) {
    for (const Knob other : {Knob::power_limit, Knob::sm_clock, Knob::memory_clock})
      if (!has(knobs_, other) && value_of(point, other))
        return fail(ErrorCode::invalid_argument,
                    cat("the model did not learn what the ", name_of(other), " does"),
                    cat("train one with --knobs ", name_of(other)));
    for (std::size_t k = 0; k < knobs_.size(); ++k) put(*stands(known, point, knobs_[k]) / defaults[k]);
    if (has(knobs_, Knob::power_limit)) {
      put(*stands(known, point, Knob::power_limit) / power);
      put(power / *stands(known, known.at_default.at, Knob::power_limit));
    } else {
      const auto most = most_power_.find(known.gpu);
      put(most == most_power_.end() ? std::numeric_limits<double>::quiet_NaN() : power / most->second);
    }
    for (const std::string& counter : counters_) put(known.features.at(counter));
  }
  return out;
}

std::vector<double> Schema::place(const Known& known, const KnobPoint& at) const {
  std::vector<double> out;
  for (const Knob knob : knobs_)
    out.push_back(std::log(*stands(known, at, knob) / *stands(known, known.at_default.at, knob)));
  return out;
}

std::optional<std::size_t> Schema::power_column() const {
  const auto found = std::find(names_.begin(), names_.end(), kMostSeen);
  if (found == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names_.begin());
}

std::vector<int> Schema::faster() const {
  std::vector<int> out(names_.size(), 0);
  for (std::size_t k = 0; k < knobs_.size(); ++k) out[k] = 1;
  if (has(knobs_, Knob::power_limit)) out[knobs_.size()] = 1;
  return out;
}

nlohmann::json Schema::state() const {
  nlohmann::json knobs = nlohmann::json::array();
  for (const Knob knob : knobs_) knobs.push_back(std::string(name_of(knob)));
  return {{"version", kSchemaVersion},
          {"knobs", knobs},
          {"counters", counters_},
          {"columns", names_},
          {"most_power_w", most_power_}};
}

Result<Schema> Schema::read(const nlohmann::json& state) try {
  const auto version = whole_of<unsigned>(state.at("version"));
  if (version != kSchemaVersion)
    return fail(ErrorCode::not_supported,
                cat("the model's inputs are of version ", version, ", this rubato's of ", kSchemaVersion),
                "train it again");
  Schema schema;
  for (const auto& name : state.at("knobs")) {
    const auto knob = parse_knob(name.get<std::string>());
    if (!knob) return fail(knob.error());
    schema.knobs_.push_back(*knob);
  }
  schema.counters_ = state.at("counters").get<std::vector<std::string>>();
  schema.most_power_ = state.at("most_power_w").get<std::map<std::string, double>>();
  schema.name_columns();
  if (schema.names_ != state.at("columns").get<std::vector<std::string>>())
    return fail(ErrorCode::corrupt, "the model's inputs are not those that its version has");
  for (const auto& [gpu, watts] : schema.most_power_)
    if (!std::isfinite(watts) || watts <= 0)
      return fail(ErrorCode::corrupt, cat("the model's highest draw of ", gpu, " is ", watts, " W"));
  return schema;
} catch (const nlohmann::json::exception&) {
  return fail(ErrorCode::corrupt, "the model's inputs cannot be read");
}

}  // namespace rubato::predict::trees
