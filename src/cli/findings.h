// What `rubato doctor` finds on this machine: facts with what mends them, before they are text or JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/place.h"
#include "cli/request.h"

namespace rubato::cli {

enum class State { fine, note, missing };

[[nodiscard]] std::string_view name_of(State state);

struct Finding {
  State state = State::fine;
  std::string_view subject;  // "driver", "gpu", "rights", "counters", "survival", "meter", "hooks", "ranks",
                             // "rubatod", "journal", "records"
  std::string what;
  std::string mend;  // a command or a step; empty: nothing to do, or nothing helps and `what` says so
};

struct Examination {
  Place place;
  std::vector<Finding> findings;
  RequestFacts facts;
  bool driver_stuck = false;  // leave by conduct::leave_now()
};

/// Of the GPUs that `gpu_list` (as typed after --gpu) means. Sets nothing.
[[nodiscard]] Examination examine(std::string_view gpu_list);

}  // namespace rubato::cli
