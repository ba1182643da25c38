// A model that has learned, and what makes one.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "predict/curve.h"
#include "predict/prediction.h"

namespace rubato::predict {

/// Passive, const and without hidden state: equal questions get equal answers.
class Model {
 public:
  virtual ~Model() = default;
  /// invalid_argument: a knob, a GPU or a feature the model cannot tell anything about, named.
  [[nodiscard]] virtual Result<Prediction> predict(const Known& known,
                                                   std::span<const KnobPoint> at) const = 0;
  /// What its learner's read() takes.
  [[nodiscard]] virtual nlohmann::json state() const = 0;
};

/// One way to learn; a row in models.cpp makes it known by name.
class Learner {
 public:
  virtual ~Learner() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Hyper-parameters are chosen here, inside what is given: leaving its groups out one by one where it must.
  /// invalid_argument where this learner needs what the curves lack (features), or they are too few.
  [[nodiscard]] virtual Result<std::unique_ptr<Model>> learn(std::span<const Curve> curves,
                                                             std::span<const Knob> knobs) const = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<Model>> read(const nlohmann::json& state) const = 0;
  /// For learning from many parts of one table: gives the same models and keeps what parts have in common.
  /// Nothing where there is nothing to keep. Not to outlive this one.
  [[nodiscard]] virtual std::unique_ptr<Learner> remembering() const { return nullptr; }
};

/// By name: "rubato" (the best of what follows, combined), "mean-curve", "physical", "shared-curve", "trees",
/// "gpoeo".
[[nodiscard]] Result<const Learner*> find_learner(std::string_view name);
[[nodiscard]] std::vector<std::string_view> learner_names();

}  // namespace rubato::predict
