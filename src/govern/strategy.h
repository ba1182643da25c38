// A strategy decides which setting to use next. Pure: numbers in, decisions out; no I/O, no threads, no clock
// of its own. Everything it knows it was told, so the same observations give the same decisions live and in
// the lab.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "core/block_role.h"
#include "core/sample.h"
#include "core/setting.h"

namespace rubato::govern {

/// What is known when a decision may be taken: after each iteration, and at least once a second.
struct Observation {
  TimePoint now;
  TimePoint run_begin;
  Setting in_force;                         // empty: the found setting
  bool under_load = false;                  // the job holds a context here and the GPU works
  std::int64_t iterations = 0;              // completed since the run began
  std::optional<TimePoint> last_iteration;  // end of the latest
  std::optional<SlowReading> state;         // latest slow reading
  std::optional<Megahertz> highest_sm_clock;
  Seconds sensor_period{0.1};
  bool may_set = false;  // rights, survival and ownership allow a write now
};

enum class Action {
  wait,         // nothing to change, ask again
  use_found,    // go to the found setting (a baseline or control block)
  use_setting,  // go to `setting`
};

struct Decision {
  Action action = Action::wait;
  Setting setting;
  BlockRole role = BlockRole::warmup;  // of the stretch that begins here
  std::string why;                     // a sentence, kept in the record where the action or role changes
  std::optional<TimePoint> ask_again;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Decision next(const Observation& observation) = 0;
};

}  // namespace rubato::govern
