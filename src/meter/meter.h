// The face of a power meter outside the GPU, and the way from what a user typed after --meter to an open one.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fs_root.h"
#include "base/result.h"
#include "core/meter_reading.h"
#include "core/sample.h"

namespace rubato::meter {

/// No read() may take longer, whatever stands at the other end.
inline constexpr Seconds kReadPatience{2.0};

/// Reads one meter. Not thread-safe: one owner thread, which may wait in read(). No call changes the meter's
/// state beyond what reading needs.
class Meter {
 public:
  virtual ~Meter() = default;
  /// As the user typed it, completed: "rapl", "snmp:rack". Unique in a run.
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual const std::vector<MeterChannel>& channels() const = 0;
  /// How often read() can bring something new.
  [[nodiscard]] virtual Seconds period() const = 0;
  /// Every channel that answered; one that told nothing new since the last call may be left out. An error
  /// means that the meter told nothing at all; the next call tries again, with a new connection where it
  /// needs one. What cannot be true (negative power, not a number, more than `kMostWatts`) is an error or
  /// left out, never handed on.
  [[nodiscard]] virtual Result<std::vector<MeterReading>> read() = 0;
  /// Why some channel was left out of the last read(), to be said once; absent: nothing is wrong.
  [[nodiscard]] virtual std::optional<Error> complaint() const { return std::nullopt; }
  [[nodiscard]] virtual CallCost cost() const = 0;
};

/// More than any single channel can draw: a whole rack.
inline constexpr Watts kMostWatts{1e6};

/// One table of meters.toml: what does not belong on a command line.
struct MeterTable {
  std::string name;
  std::map<std::string, std::string, std::less<>> values;  // scalars as text; "env:NAME" is already resolved
  std::filesystem::path file;                              // for messages
};

/// What opening a meter may use besides its argument.
struct Surroundings {
  std::shared_ptr<const Clock> clock;
  FsRoot root{};                   // holds /sys, /proc, /dev
  std::vector<MeterTable> tables;  // of meters.toml
  [[nodiscard]] const MeterTable* table(std::string_view name) const {
    for (const MeterTable& t : tables)
      if (t.name == name) return &t;
    return nullptr;
  }
};

/// A meter that can be had here, or could but for something.
struct FoundMeter {
  std::string spec;  // for --meter
  std::string what;  // in words: "CPU package and DRAM energy of 2 sockets"
  Capability usable;
};

/// One kind of meter.
struct MeterKind {
  std::string_view name;         // also the prefix on the command line: "snmp:rack"
  std::string_view argument;     // how the rest is written: "[DOMAIN,…]"
  std::string_view description;  // one clause
  /// invalid_argument, not_found: what was typed cannot work; no_permission, unavailable, timeout: not now.
  Result<std::unique_ptr<Meter>> (*open)(std::string_view argument, const Surroundings&);
  /// Without contacting anything over a network, in milliseconds.
  std::vector<FoundMeter> (*find)(const Surroundings&);
};

}  // namespace rubato::meter
