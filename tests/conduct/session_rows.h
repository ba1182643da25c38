// What the record of a virtual run says of its blocks and settings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "conduct/virtual_run.h"

namespace rubato::conduct {

inline std::vector<record::Block> blocks_of(const record::RunRecord& run, BlockRole role) {
  std::vector<record::Block> found;
  std::copy_if(run.blocks.begin(), run.blocks.end(), std::back_inserter(found),
               [&](const record::Block& block) { return block.role == role; });
  return found;
}

/// Blocks that are judged and end later than `from`; the one that is cut by what happened there ends before.
inline std::ptrdiff_t judged_between(const record::RunRecord& run, Seconds from, Seconds to) {
  return std::count_if(run.blocks.begin(), run.blocks.end(), [&](const record::Block& block) {
    return block.role != BlockRole::warmup && block.end - VirtualRun::kBegin > from &&
           block.begin - VirtualRun::kBegin < to;
  });
}

/// No block that is said to be held at 150 W drew more.
inline std::ptrdiff_t holds_above_their_limit(const record::RunRecord& run) {
  const auto hold = blocks_of(run, BlockRole::hold);
  return std::count_if(hold.begin(), hold.end(), [](const record::Block& block) {
    return block.setting.power_limit != 150_W || block.energy.value().mean_power() > 150_W;
  });
}

/// How often rubato asked for the setting, and got it.
inline std::ptrdiff_t times_set(const record::RunRecord& run) {
  return std::count_if(
      run.setting_changes.begin(), run.setting_changes.end(), [](const record::SettingChange& change) {
        return change.who == "rubato" && !change.asked.empty() && change.outcome == "applied";
      });
}

inline const record::DeviceEnd& device_end(const record::RunRecord& run, std::size_t gpu = 0) {
  return run.end.value().devices.at(gpu);
}

}  // namespace rubato::conduct
