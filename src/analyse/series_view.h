// Which two fields of a reading are looked at.
#pragma once

#include <optional>
#include <vector>

#include "core/kind.h"
#include "core/sample.h"

namespace rubato::analyse {

/// GPU, module and memory share one series of readings.
struct SeriesView {
  const std::vector<FastReading>* readings = nullptr;
  std::optional<Watts> FastReading::*power = &FastReading::power;
  std::optional<Joules> FastReading::*counter = nullptr;  // null: the scope has none
  Scope scope = Scope::gpu;                               // bounds what a counter can have risen by
  bool rests = false;  // a counter counts its work alone and tells no power between: a table's
};

}  // namespace rubato::analyse
