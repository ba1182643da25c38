// What a stretch of a run at one setting is for.
#pragma once

#include <string_view>

#include "base/result.h"

namespace rubato {

enum class BlockRole {
  warmup,    // before anything is judged: caches, autotuning, clocks and temperature settle
  baseline,  // at the found setting, to know what the job costs without rubato
  trial,     // at a setting that is being tried
  hold,      // at the chosen setting
  control,   // back at the found setting for a short while, to see whether the baseline still holds
};

[[nodiscard]] std::string_view name_of(BlockRole role);
[[nodiscard]] Result<BlockRole> parse_block_role(std::string_view name);

}  // namespace rubato
