// Of the codec: what a guard or daemon answers.
#pragma once

#include <vector>

#include "wire/fields.h"
#include "wire/message.h"

namespace rubato::wire {

[[nodiscard]] Result<Body> read_welcome(const std::vector<Field>& fields);
[[nodiscard]] Result<Body> read_granted(const std::vector<Field>& fields);
[[nodiscard]] Result<Body> read_applied(const std::vector<Field>& fields);
[[nodiscard]] Result<Body> read_restored(const std::vector<Field>& fields);
[[nodiscard]] Result<Body> read_cleared(const std::vector<Field>& fields);
[[nodiscard]] Result<Body> read_state(const std::vector<Field>& fields);
[[nodiscard]] Result<Body> read_refused(const std::vector<Field>& fields);

}  // namespace rubato::wire
