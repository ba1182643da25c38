// A learner that learns from the same curves once: leaving groups out one by one, and again inside what is
// left, asks for the same parts of a table twice.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "predict/model.h"

namespace rubato::predict {

/// Gives the models of `learner`, kept for as long as it lives: equal curves (names, groups, figures) and
/// knobs share one. Safe to be used by several threads; whoever asks for what another is learning waits for
/// it. Not to outlive `learner`.
class Remembered final : public Learner {
 public:
  explicit Remembered(const Learner& learner) : learner_(learner) {}
  [[nodiscard]] std::string_view name() const override { return learner_.name(); }
  [[nodiscard]] Result<std::unique_ptr<Model>> learn(std::span<const Curve> curves,
                                                     std::span<const Knob> knobs) const override;
  [[nodiscard]] Result<std::unique_ptr<Model>> read(const nlohmann::json& state) const override {
    return learner_.read(state);
  }

 private:
  using Learnt = Result<std::shared_ptr<const Model>>;

  const Learner& learner_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_future<Learnt>> models_;
};

}  // namespace rubato::predict
