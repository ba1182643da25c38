// Suites: named sets of modelled jobs, where tables of measurements have none.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/setting.h"
#include "lab/job.h"

namespace rubato::lab {

struct SuiteInfo {
  std::string name;
  std::string description;  // one sentence
};

[[nodiscard]] std::vector<SuiteInfo> suites();
/// Over these knobs, or those the suite has by default. not_found names the suites there are;
/// invalid_argument: a board of it does not take one of the knobs.
[[nodiscard]] Result<std::vector<Job>> suite_named(std::string_view name, std::span<const Knob> knobs = {});

}  // namespace rubato::lab
