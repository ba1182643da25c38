// Stage profiles of small numbers.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "plan/pipeline/frontier.h"

namespace rubato::plan {

/// Every stage and pass has these clocks.
inline StageProfile equal_stages(std::size_t stages, const std::vector<StageOption>& options) {
  StageProfile profile{"made", {}};
  for (std::size_t i = 0; i < stages; ++i) profile.stages.push_back({{options, options}});
  return profile;
}

/// 1 s and 500 J, or 2 s and 300 J: above a waiting stage's 100 W that is 400 J, or 100 J.
inline StageProfile two_clocks(std::size_t stages) {
  return equal_stages(
      stages, {{Megahertz(1400), Seconds(1), Joules(500)}, {Megahertz(700), Seconds(2), Joules(300)}});
}

inline FrontierWishes wishes(std::size_t microbatches, double blocking_w, std::optional<Seconds> unit = {}) {
  FrontierWishes made;
  made.microbatches = microbatches;
  made.blocking = Watts(blocking_w);
  made.unit = unit;
  return made;
}

inline std::string measured_text(const std::string& name) {
  const char* folder = std::getenv("RUBATO_TEST_DATA");
  std::ifstream in(std::filesystem::path(folder == nullptr ? "" : folder) / "pipeline" / name);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace rubato::plan
