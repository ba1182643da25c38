// What a run is to make small, and inside which bound.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace rubato {

/// `time`: of a power budget alone; without one the found setting takes the least.
enum class Objective { energy, edp, ed2p, cost, time };

[[nodiscard]] std::string_view name_of(Objective objective);
[[nodiscard]] Result<Objective> parse_objective(std::string_view name);
/// The power of time that an energy is multiplied by.
[[nodiscard]] int delay_exponent(Objective objective);
/// Of settings that share the time: whether it is the sum of what each makes, so that sharing may be better
/// than either.
[[nodiscard]] bool adds_up(Objective objective);

struct Goal {
  Objective objective = Objective::energy;
  double max_slowdown = 0.05;  // fraction of the whole run's time
  // What a second costs beside the board's joules, per GPU: the floor of a second's price.
  std::optional<Watts> host_watts;  // the machine draws on while the job waits
  std::optional<Watts> second;      // what the user says it is worth: an hour's price over a joule's
  std::optional<Watts> idle;        // the board would draw this without the job too, so it does not count
  /// For the limits of all GPUs of the node together; there is no bound on time beside it.
  std::optional<Watts> power_budget{};
};

/// The same goal where `gpus` are judged by what they draw together: each second costs as much for each of
/// them.
[[nodiscard]] Goal beside_all(Goal goal, unsigned gpus);

/// host_watts + second - idle: negative where idle outweighs the others.
[[nodiscard]] Watts beside_board(const Goal& goal);

/// beside_board() over itself and what the board draws: the part of `energy` at the found setting that goes
/// with time alone. At least -4, as a job draws more than an idle board; 0 where `board` is not known.
[[nodiscard]] double share_of_time(const Goal& goal, Watts board);

}  // namespace rubato
