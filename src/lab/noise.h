// What a run of the lab is disturbed by, drawn before it: the same for every strategy, and for the run at the
// found setting that each is compared with.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace rubato::lab {

enum class NoiseModel {
  iid,         // independent from iteration to iteration
  drift,       // the job's own cost wanders over minutes, and warms up
  heavy_tail,  // rare iterations are far off, some stall
  steps,       // the job's own cost jumps now and then
};

[[nodiscard]] std::string_view name_of(NoiseModel model);
[[nodiscard]] Result<NoiseModel> parse_noise_model(std::string_view name);

struct NoiseOptions {
  NoiseModel model = NoiseModel::iid;
  double level = 0.01;  // standard deviation of one iteration's time, and of its power, as they are observed
};

/// Factors, one per iteration.
struct Draw {
  std::vector<float> seen_time;  // what is observed over what is true
  std::vector<float> seen_power;
  std::vector<float> own_time;  // what is true, over what the job's truth says; empty: 1
  std::vector<float> own_power;
};

/// Depends on nothing but what it is given; `job` is a name.
[[nodiscard]] Draw draw(const NoiseOptions& options, std::string_view job, std::uint64_t seed,
                        std::int64_t iterations, Seconds iteration);

}  // namespace rubato::lab
