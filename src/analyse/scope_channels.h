// Which channels tell of a part of this machine, where several meters were told to read it.
#pragma once

#include <vector>

#include "record/reader.h"

namespace rubato::analyse {

/// Positions of the channels that together tell of a scope, each thing in it once. Of several kinds of meters
/// (RAPL, hwmon) the one with most channels stands alone, of equals the first; two meters of one kind (rapl,
/// rapl:all) read the same thing where they give it one name and place.
[[nodiscard]] std::vector<std::size_t> channels_of(const record::RunRecord& run, Scope scope);

}  // namespace rubato::analyse
