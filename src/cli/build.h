// What `rubato --version` prints.
#pragma once

#include <string>

namespace rubato::cli {

/// The version, and how this binary was built: commit, compiler, libraries.
[[nodiscard]] std::string build_text();

}  // namespace rubato::cli
