// What power meters outside the GPU tell: their channels, and readings of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "core/capability.h"
#include "core/kind.h"

namespace rubato {

/// One quantity a meter reads: a RAPL domain, an outlet of a power strip. Channels are never added.
struct MeterChannel {
  std::string name;  // "package-0": unique within its meter and the same from run to run
  Scope scope = Scope::node;
  std::string inside;       // name of the channel of the same meter that contains this one; empty: none known
  std::string place;        // what it stands for, in words: "socket 0", "outlet 7 of pdu-3"
  bool has_energy = false;  // it counts joules itself
  bool has_power = false;
  SensorFacts sensor;  // its update period, its lag as a window, its accuracy and where they are written
  // A device that speaks by itself, when something changed or seldom: nothing is missing for so long.
  std::optional<Seconds> quiet_for = std::nullopt;
};

/// One channel at one moment. What was not read is absent; one of the two is there.
struct MeterReading {
  std::size_t channel = 0;  // position in the meter's channels
  TimePoint at;             // the middle of the request and its answer, or the arrival of what was sent
  std::optional<Watts> power;
  std::optional<Joules> energy;  // since the meter was opened; wraps of its register are undone
};

/// What one look at a meter brought.
struct MeterNews {
  std::size_t meter = 0;  // position in the run's meters
  TimePoint at;
  std::vector<MeterReading> readings;
  std::optional<Error> trouble;  // nothing, or not everything, could be read
};

}  // namespace rubato
