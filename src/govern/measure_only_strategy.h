// Changes nothing, and says why.
#pragma once

#include <string>

#include "govern/strategy.h"

namespace rubato::govern {

inline constexpr std::string_view kMeasureOnly = "measure-only";

class MeasureOnlyStrategy final : public Strategy {
 public:
  /// `reason`: the sentence every decision carries.
  explicit MeasureOnlyStrategy(std::string reason) : reason_(std::move(reason)) {}
  [[nodiscard]] std::string_view name() const override { return kMeasureOnly; }
  [[nodiscard]] Decision next(const Observation&) override {
    return {Action::wait, {}, BlockRole::baseline, reason_, std::nullopt};
  }

 private:
  std::string reason_;
};

}  // namespace rubato::govern
