// What `rubato doctor` says about rubatod: which GPUs it manages, what it lets this user do, and why it last
// said no.
#pragma once

#include <string_view>
#include <vector>

#include "cli/findings.h"

namespace rubato::cli {

/// True where it manages all of these GPUs and would set some for this user, who then needs no right.
[[nodiscard]] bool look_at_rubatod(std::vector<Finding>& findings, std::string_view gpu_list);

}  // namespace rubato::cli
