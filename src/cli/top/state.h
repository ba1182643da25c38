// What `rubato top` knows at one moment: plain data, so that everything drawn from it can be tested.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "core/gpu_id.h"
#include "core/kind.h"
#include "core/sample.h"
#include "core/setting.h"
#include "record/run_state.h"

namespace rubato::cli::top {

/// What rubatod says of a GPU that it manages.
struct ManagedNow {
  std::string mode;   // "manage", or "observe" where nothing is set
  std::string state;  // "free", "leased", or "away": the driver does not answer it
  std::optional<std::int64_t> slurm_job{};
};

struct GpuState {
  GpuIdentity identity;
  Kind kind = Kind::measured;
  std::optional<Watts> power;
  SlowReading slow{};                   // members absent where not read
  std::optional<PowerLimits> limits{};  // as they were when the GPU was opened: the range
  std::string silent{};                 // why it does not answer; empty: it does
  std::optional<ManagedNow> managed{};  // absent: no rubatod that answers manages it
};

struct RunNow {
  record::RunState state;
  Seconds age;  // on the wall, since it said so
};

struct ProcessState {
  pid_t pid = 0;
  std::string user;
  std::string command;                          // as it was started; empty: cannot be seen from here
  std::vector<std::size_t> gpus{};              // positions in State::gpus
  std::optional<std::uint64_t> memory_bytes{};  // on all of them
  std::string run_id{};                         // of the rubato run it belongs to; empty: none of this user's
};

/// What rubato top itself has taken so far.
struct OwnUse {
  Seconds wall;
  Seconds cpu;      // driver calls included
  CallCost driver;  // calls into the driver's library and wall time inside it
};

struct State {
  std::string time_of_day;  // "12:10:03", where the machine is
  std::string at;           // ISO 8601 with zone
  std::string host;
  std::string backend;
  double clock_rate = 1;  // >1: a simulated world that runs faster than the wall
  Seconds interval{1};
  std::vector<GpuState> gpus{};
  std::vector<RunNow> runs{};
  std::vector<ProcessState> processes{};
  std::string processes_unknown{};  // why not all of them could be listed; empty: they could
  std::optional<Seconds> stuck{};   // the driver has not come back for so long; the rest is as it was then
  OwnUse own{};
};

/// "power limit, heat"; "nothing" where nothing holds the clocks back, "-" where it cannot be read.
[[nodiscard]] std::string limited_by(const SlowReading& reading);
/// Of all GPUs that can be read; absent: of none.
[[nodiscard]] std::optional<Watts> total_power(const State& state);
/// "0,2" of a run's GPUs among those shown that its job computes on, as far as is known; "-" where none is.
[[nodiscard]] std::string gpus_of(const record::RunState& run, const State& state);
/// "holding 156 W, SM 1380 MHz", "measuring only".
[[nodiscard]] std::string doing(const record::RunState& run);
/// The name a command goes by: its script ("train.py"), else its words from the program's name on.
[[nodiscard]] std::string short_name(const std::vector<std::string>& command);

}  // namespace rubato::cli::top
