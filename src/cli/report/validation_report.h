// What a validation found, as a page and as rubato.validate/1.
#pragma once

#include <string>

#include "cli/report/page.h"
#include "experiment/noise_floor.h"
#include "experiment/validation.h"
#include "report/value.h"

namespace rubato::cli {

struct ValidationReport {
  std::string table;
  std::string train;  // empty: groups of the table were left out
  std::string model;
  experiment::ValidationOptions options;
  experiment::Validation found;
  experiment::Validation mean_curve;  // at the defaults alone
  experiment::NoiseFloor floor;
};

/// `every_workload`: with the optional member per_workload.
[[nodiscard]] report::Object validation_json(const ValidationReport& validation, bool every_workload);
void say_validation(Page& page, const ValidationReport& validation, bool every_workload);

}  // namespace rubato::cli
