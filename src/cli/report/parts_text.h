// Sections of a run's report about what its energy belongs to.
#pragma once

#include <string>

#include "analyse/footprint.h"
#include "analyse/summary.h"
#include "cli/report/page.h"

namespace rubato::cli {

/// Meters and what is inside what, epochs, iterations, phases, windows, kernels, and the sum. Sections
/// without content are left out.
void parts_text(Page& page, const record::RunRecord& run, const analyse::Summary& summary);

/// One part of it: every source by what is inside what, the host's watts and the idle share.
void scopes_text(Page& page, const analyse::Summary& summary);
/// One part of it: the kernels and layers that took most time.
void kernels_text(Page& page, const analyse::Summary& summary);

/// "12.3 kJ ± 0.1 % sampling ± 5.0 % calibration"
[[nodiscard]] std::string with_bands(Joules energy, Joules sampling, Joules calibration);
/// "measured", "apportioned", "modelled, split by time"
[[nodiscard]] std::string kind_text(const analyse::Figure& figure);
/// What the saving is with the host's watts; empty where nothing can be said.
[[nodiscard]] std::string host_saving_text(const analyse::Savings& savings, const analyse::HostWatts& host);
/// What was saved as the goal weighs it; empty where a joule is a joule and a second costs nothing.
[[nodiscard]] std::string weighed_saving_text(const analyse::Savings& savings, const Goal& goal,
                                              std::size_t gpus);
[[nodiscard]] std::string footprint_text(const analyse::Footprint& footprint,
                                         const analyse::Factors& factors);

}  // namespace rubato::cli
