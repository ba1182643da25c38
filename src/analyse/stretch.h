// A stretch of the job at one setting: the blocks of all its GPUs together.
#pragma once

#include <vector>

#include "record/reader.h"

namespace rubato::analyse {

struct Stretch {
  BlockRole role = BlockRole::hold;
  Setting setting;  // of the first GPU; with one uniform setting, of all
  TimePoint begin;
  TimePoint end;
  std::int64_t iterations = 0;               // of the job: every GPU takes part in the same ones
  std::vector<const record::Block*> blocks;  // one per GPU
  std::optional<Joules> energy;              // of all GPUs of the job; absent where one is missing
  Joules band_sampling;                      // half width, of that sum

  [[nodiscard]] Seconds duration() const { return end - begin; }
};

/// In order of time. Points into `run`.
[[nodiscard]] std::vector<Stretch> stretches_of(const record::RunRecord& run);

}  // namespace rubato::analyse
