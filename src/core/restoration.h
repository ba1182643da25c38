// How a lease on a GPU ended.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/gpu_id.h"
#include "core/setting.h"

namespace rubato {

enum class Restoration {
  not_needed,  // nothing was set
  restored,    // what was found is in force again
  failed,      // the driver refused; the journal is kept for `rubato restore`
  left_alone,  // somebody else changed it since, or the driver was reloaded: theirs stands
};

[[nodiscard]] std::string_view name_of(Restoration restoration);
[[nodiscard]] Result<Restoration> parse_restoration(std::string_view name);

struct RestorationReport {
  GpuId gpu;
  Restoration outcome = Restoration::not_needed;
  std::string detail;  // a sentence: what was put back, or what stands there now and why
};

}  // namespace rubato
