// What `rubato advise` answers, as a page and as rubato.advise/1.
#pragma once

#include <string>
#include <vector>

#include "cli/report/page.h"
#include "experiment/advise/advise.h"
#include "experiment/advise/measured_default.h"
#include "report/value.h"

namespace rubato::cli {

struct AdviceReport {
  std::string run_id;
  std::vector<std::string> command;
  std::string gpu_list;  // as typed after --gpu
  experiment::MeasuredDefault measured;
  experiment::ModelFacts model;
  std::vector<Knob> knobs;
  Goal goal;
  experiment::Advice advice;
};

/// The command that makes the setting chosen; where the advice was refused, the sweep that would tell. Empty
/// where everything stays as it is.
[[nodiscard]] std::string advised_command(const AdviceReport& report);

[[nodiscard]] report::Object advice_json(const AdviceReport& report);
void say_advice(Page& page, const AdviceReport& report);

}  // namespace rubato::cli
