// A strategy that does what a test says, iteration by iteration.
#pragma once

#include <functional>
#include <utility>

#include "govern/strategy.h"

namespace rubato::lab {

class Scripted final : public govern::Strategy {
 public:
  using Script = std::function<govern::Decision(const govern::Observation&)>;
  explicit Scripted(Script script) : script_(std::move(script)) {}
  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  [[nodiscard]] govern::Decision next(const govern::Observation& seen) override { return script_(seen); }

 private:
  Script script_;
};

inline govern::Decision stay(BlockRole role = BlockRole::warmup) {
  return {govern::Action::wait, {}, role, {}, {}};
}
inline govern::Decision limit(double watts, BlockRole role) {
  Setting setting;
  setting.power_limit = Watts(watts);
  return {govern::Action::use_setting, setting, role, "as the test says", {}};
}

}  // namespace rubato::lab
