// Learning takes most of a validation, and what is learnt does not depend on the probes.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "predict/model.h"

namespace rubato::prediction_evidence {

/// Learns from the same curves once. Not to outlive `learner`.
class Remembered final : public predict::Learner {
 public:
  explicit Remembered(const predict::Learner& learner) : learner_(learner) {}
  std::string_view name() const override { return learner_.name(); }
  Result<std::unique_ptr<predict::Model>> learn(std::span<const predict::Curve> curves,
                                                std::span<const Knob> knobs) const override {
    std::string key;
    for (const Knob knob : knobs) key.append(name_of(knob)).append("\n");
    for (const predict::Curve& curve : curves)
      key.append(curve.known.gpu).append(curve.workload).append("\n");
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = models_.find(key); found != models_.end())
        return std::make_unique<Shared>(found->second);
    }
    auto model = learner_.learn(curves, knobs);
    if (!model) return fail(model.error());
    const std::shared_ptr<const predict::Model> shared = std::move(*model);
    const std::lock_guard lock(mutex_);
    models_.emplace(std::move(key), shared);
    return std::make_unique<Shared>(shared);
  }
  Result<std::unique_ptr<predict::Model>> read(const nlohmann::json& state) const override {
    return learner_.read(state);
  }

 private:
  class Shared final : public predict::Model {
   public:
    explicit Shared(std::shared_ptr<const predict::Model> model) : model_(std::move(model)) {}
    Result<predict::Prediction> predict(const predict::Known& known,
                                        std::span<const predict::KnobPoint> at) const override {
      return model_->predict(known, at);
    }
    nlohmann::json state() const override { return model_->state(); }

   private:
    std::shared_ptr<const predict::Model> model_;
  };

  const predict::Learner& learner_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const predict::Model>> models_;
};

}  // namespace rubato::prediction_evidence
