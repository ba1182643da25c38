// Of the codec: what a client asks of a guard or daemon.
#pragma once

#include <vector>

#include "wire/fields.h"
#include "wire/message.h"

namespace rubato::wire {

[[nodiscard]] Result<Body> read_hello(const std::vector<Field>& fields);
[[nodiscard]] Result<Body> read_acquire(const std::vector<Field>& fields);
[[nodiscard]] Result<Body> read_apply(const std::vector<Field>& fields);
[[nodiscard]] Result<Body> read_restore(const std::vector<Field>& fields);
[[nodiscard]] Result<Body> read_release(const std::vector<Field>& fields);
[[nodiscard]] Result<Body> read_status(const std::vector<Field>& fields);
[[nodiscard]] Result<Body> read_job_begin(const std::vector<Field>& fields);
[[nodiscard]] Result<Body> read_job_end(const std::vector<Field>& fields);

}  // namespace rubato::wire
