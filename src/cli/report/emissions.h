// A run as one row of CodeCarbon's emissions.csv, for whoever collects those. What was not measured is an
// empty cell.
#pragma once

#include <optional>

#include "analyse/footprint.h"
#include "analyse/summary.h"
#include "record/reader.h"
#include "report/rows.h"

namespace rubato::cli {

/// Header and one row in the columns of CodeCarbon 3.3.2 (output_methods/emissions_data.py). energy_consumed
/// is the sum of GPUs, CPU packages and DRAM, which do not contain one another; without a factor `emissions`
/// is empty.
[[nodiscard]] Status write_emissions(const record::RunRecord& run, const analyse::Summary& summary,
                                     const std::optional<analyse::Co2Factor>& factor, report::Sink& to);

}  // namespace rubato::cli
