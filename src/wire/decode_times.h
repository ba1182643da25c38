// Of the codec: the messages about where the time of requests goes.
#pragma once

#include <vector>

#include "wire/fields.h"
#include "wire/message.h"

namespace rubato::wire {

[[nodiscard]] Result<Body> read_times(const std::vector<Field>& fields);
/// corrupt beyond kMostParts parts, or kMostBins bins of one.
[[nodiscard]] Result<Body> read_timed(const std::vector<Field>& fields);

}  // namespace rubato::wire
