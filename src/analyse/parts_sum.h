// The sum: every piece of a run gets its energy from one curve, so that no joule is lost or counted twice.
#pragma once

#include <vector>

#include "analyse/partition.h"
#include "analyse/parts.h"

namespace rubato::analyse {

/// One row per label, without energy yet.
[[nodiscard]] std::vector<Part> rows_of(const std::vector<Piece>& pieces, std::size_t sources);

/// Fills column `column` of `rows` with the source's energy. Pieces too short to be measured share, by time,
/// what the stretch of neighbouring short pieces took together.
[[nodiscard]] Balance balance_of(const std::vector<Piece>& pieces, const Timeline& timeline,
                                 const EnergySource& source, std::size_t column, std::vector<Part>& rows);

}  // namespace rubato::analyse
