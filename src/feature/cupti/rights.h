// Whether the driver lets this process count, as far as files tell: asked before anything heavy is loaded.
#pragma once

#include "base/fs_root.h"
#include "base/result.h"

namespace rubato::feature::cupti {

/// Errors: no_permission. Success is no promise: in a container the files may be missing.
[[nodiscard]] Status counting_right(const FsRoot& root);

}  // namespace rubato::feature::cupti
