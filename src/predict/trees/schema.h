// The named inputs of the boosted trees, in their order: part of what a model was trained on.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/curve.h"
#include "predict/trees/booster.h"

namespace rubato::predict::trees {

/// A change of meaning of any column below is a new version: models of another one are refused.
inline constexpr unsigned kSchemaVersion = 1;

/// What stands in a column:
///   power_limit_over_default, sm_clock_over_default, memory_clock_over_default   each knob of the model
///   power_limit_over_default_power    with the power limit: below 1 it cuts into the mean draw
///   default_power_over_default_limit  with the power limit: how near the workload is to it untouched
///   default_power_over_most_seen      without: over the highest default draw learned from on this GPU
///   feature_NAME                      counters at the default
class Schema {
 public:
  /// invalid_argument: curves without one of the knobs, or whose counters differ.
  [[nodiscard]] static Result<Schema> of(std::span<const Curve> curves, std::span<const Knob> knobs);
  [[nodiscard]] static Result<Schema> read(const nlohmann::json& state);
  [[nodiscard]] nlohmann::json state() const;

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<Knob>& knobs() const { return knobs_; }
  /// Position of default_power_over_most_seen, where it is there.
  [[nodiscard]] std::optional<std::size_t> power_column() const;
  /// 1 for the columns that let the GPU run faster, 0 for the others: with all else equal, time cannot rise
  /// with them and power cannot fall.
  [[nodiscard]] std::vector<int> faster() const;

  /// One row per setting. invalid_argument: a knob or a counter that the model learned with and this workload
  /// lacks, or a knob it did not learn with.
  [[nodiscard]] Result<Features> rows(const Known& known, std::span<const KnobPoint> at) const;
  /// ln of each knob over its default: where settings stand to one another. After rows() accepted them.
  [[nodiscard]] std::vector<double> place(const Known& known, const KnobPoint& at) const;

 private:
  [[nodiscard]] Status check(const Known& known) const;

  std::vector<Knob> knobs_;
  std::vector<std::string> counters_;
  std::map<std::string, double> most_power_;  // W, by GPU
  std::vector<std::string> names_;
  void name_columns();
};

}  // namespace rubato::predict::trees
