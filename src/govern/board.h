// One board of a run that divides a power budget: the others are told of all their boards together.
#pragma once

#include <optional>
#include <string>

#include "core/sample.h"
#include "core/setting.h"
#include "govern/tally.h"

namespace rubato::govern {

struct Board {
  std::string name;        // for people
  Watts least;             // of its power limit
  Watts found;             // the limit that was found: nobody asked for more
  Watts limit;             // requested, in force now
  bool counts = false;     // the job computes there: its limit is part of the sum
  bool steered = false;    // its limit is this run's to set
  bool give_back = false;  // not steered any more, and still at a limit of this run's
  std::optional<SlowReading> state;
  /// Its energy, and the work of the processes that compute on it; of the job where those tell of none.
  std::optional<Tally> tally;
};

}  // namespace rubato::govern
