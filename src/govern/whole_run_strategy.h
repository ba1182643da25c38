// One setting for the whole run, from the moment it may be set: no baseline, no control blocks. For
// experiments that compare whole runs with each other.
#pragma once

#include <string>

#include "base/text.h"
#include "govern/strategy.h"

namespace rubato::govern {

class WholeRunStrategy final : public Strategy {
 public:
  explicit WholeRunStrategy(Setting wanted) : wanted_(wanted) {}

  [[nodiscard]] std::string_view name() const override { return "whole-run"; }
  [[nodiscard]] Decision next(const Observation& o) override {
    if (o.in_force == wanted_)
      return {
          Action::wait, {}, BlockRole::hold, cat("the whole run is at ", describe(wanted_)), std::nullopt};
    if (o.may_set)
      return {Action::use_setting, wanted_, BlockRole::hold,
              cat("the job is on the GPU; going to ", describe(wanted_)), std::nullopt};
    return {Action::wait,
            {},
            BlockRole::warmup,
            "nothing may be set before the job computes on the GPU",
            std::nullopt};
  }

 private:
  Setting wanted_;
};

}  // namespace rubato::govern
