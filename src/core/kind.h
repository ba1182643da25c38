// What kind of number a number is (docs/design.md, promise 4). Printed with every value a user sees.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace rubato {

enum class Kind {
  measured,
  apportioned,   // split by a named model
  replayed,      // a row of a table of measurements
  interpolated,  // between rows of such a table
  modelled,      // by the simulated GPU
};

[[nodiscard]] std::string_view name_of(Kind kind);
[[nodiscard]] Result<Kind> parse_kind(std::string_view name);

/// What a number covers. Scopes may contain one another and are never added: node holds platform, platform
/// holds cpu_package and dram, module holds gpu, gpu holds memory, cpu_package holds cpu_cores and
/// cpu_uncore.
enum class Scope {
  gpu,
  module,  // a superchip: GPU, its CPU and their memory
  memory,  // of a GPU
  cpu_package,
  cpu_cores,   // part of cpu_package
  cpu_uncore,  // part of cpu_package: an integrated GPU
  dram,
  platform,  // what a board's own controller counts (RAPL psys)
  node,      // the whole machine, at the wall
  rail,      // one supply line; what hangs on it only its label says
};

[[nodiscard]] std::string_view name_of(Scope scope);
[[nodiscard]] Result<Scope> parse_scope(std::string_view name);

/// Where a series of numbers comes from; one row of the run record's table `source`.
struct Source {
  std::string name;  // "nvml_energy_counter"
  std::string unit;  // "J"
  Scope scope = Scope::gpu;
  Kind kind = Kind::measured;
  std::string quality;  // in words: update period, averaging window, what is not known
};

}  // namespace rubato
