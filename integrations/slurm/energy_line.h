// A line of JSON for each job and node, for whoever counts energy on the cluster (docs/slurm.md).
#pragma once

#include <filesystem>

#include "base/result.h"
#include "node.h"

namespace rubato::slurm {

/// One object on one line, appended in one write. Errors: the file is a link, or cannot be written.
[[nodiscard]] Status append_energy(const std::filesystem::path& file, const Job& job,
                                   const wire::Cleared& cleared);

/// Without line end. `at`: "2026-11-22T12:00:00Z".
[[nodiscard]] std::string energy_line(const Job& job, const wire::Cleared& cleared, std::string_view at);

}  // namespace rubato::slurm
