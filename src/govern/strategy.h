// A strategy decides which setting to use next. Pure: numbers in, decisions out; no I/O, no threads, no clock
// of its own. Everything it knows it was told, so the same observations give the same decisions live and in
// the lab.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/block_role.h"
#include "core/expectation.h"
#include "core/sample.h"
#include "core/setting.h"
#include "govern/beside.h"
#include "govern/board.h"
#include "govern/tally.h"

namespace rubato::govern {

/// Of a plan of clocks inside the iteration, where the run has one: whether it can be run now.
struct PlanNow {
  bool ready = false;
  std::string why_not;       // a sentence's part: "no kernel records yet"
  bool another_job = false;  // the job does not do what the plan was made for
};

/// What is known when a decision may be taken: after each iteration, and at least once a second.
struct Observation {
  TimePoint now;
  TimePoint run_begin;
  Setting in_force;                         // empty: the found setting
  bool under_load = false;                  // the job holds a context here, and it or the GPU works
  std::int64_t iterations = 0;              // completed since the run began
  std::optional<TimePoint> last_iteration;  // end of the latest
  std::optional<SlowReading> state;         // latest slow reading
  std::optional<Megahertz> highest_sm_clock;
  Seconds sensor_period{0.1};
  /// Up to the end of the latest iteration; without iterations, up to the latest moment anything is known of.
  std::optional<Tally> tally;
  /// Counter features at the found setting, named as in sweep tables without "feature_"; null: none were
  /// read.
  std::shared_ptr<const std::map<std::string, double>> features;
  /// Set where the job was noticed to have changed since the question before: why.
  std::optional<std::string> shift;
  bool tuning = false;   // the framework still tries kernels by time: iterations are not those to come
  bool may_set = false;  // rights, survival and ownership allow a write now
  std::optional<PlanNow> plan;
  Beside beside{};            // of the job's ranks, where they have clocks of their own
  std::vector<Board> boards;  // of a run that divides a power budget among them; else empty
};

enum class Action {
  wait,         // nothing to change, ask again
  use_found,    // go to the found setting (a baseline or control block)
  use_setting,  // go to `setting`
  use_plan,     // from a setting of ours: switch inside the iteration; `setting` says the range of its clocks
  use_limits,   // every board its own of `limits`, never above the budget together on the way
};

struct Decision {
  Action action = Action::wait;
  Setting setting;
  BlockRole role = BlockRole::warmup;  // of the stretch that begins here
  std::string why;                     // a sentence, kept in the record where the action or role changes
  std::optional<TimePoint> ask_again;
  /// Of use_limits, in the order of Observation::boards; absent: the found one.
  std::vector<std::optional<Watts>> limits{};
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Decision next(const Observation& observation) = 0;
  /// Of the settings it chose from with the latest decision; nothing where it does not predict.
  [[nodiscard]] virtual std::optional<Expectation> expected() const { return std::nullopt; }
  /// What the bound would allow to lose besides; nothing where it keeps no such account.
  [[nodiscard]] virtual std::optional<Left> left() const { return std::nullopt; }
};

}  // namespace rubato::govern
