#include <cmath>

#include "core/telemetry_csv.h"
#include "fuzz/target.h"

// What is read is usable: finite and within range, whatever stood in the file.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto trace = rubato::parse_telemetry(rubato::fuzz::text_of(data, size));
  if (!trace) return 0;
  for (const rubato::TelemetryRow& row : trace->rows) {
    rubato::fuzz::require(!row.power || (row.power->value() >= 0 && row.power->value() <= 1e5));
    rubato::fuzz::require(!row.sm_utilisation || (*row.sm_utilisation >= 0 && *row.sm_utilisation <= 1));
    rubato::fuzz::require(!row.memory_utilisation ||
                          (*row.memory_utilisation >= 0 && *row.memory_utilisation <= 1));
    rubato::fuzz::require(!row.sm_clock || std::isfinite(row.sm_clock->value()));
  }
  return 0;
}
