// What is inside what, among everything that was measured; what a whole holds besides its known parts; the
// watts the host draws beside the GPUs; and the share of a GPU's energy that it would have drawn idle.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyse/sources.h"
#include "analyse/timeline.h"

namespace rubato::analyse {

/// A whole less its known parts, over the time all of them tell of.
struct Rest {
  std::optional<Joules> energy;  // absent: see why_not
  Joules band;                   // half width: sampling and calibration of the whole and of each part
  Seconds over;
  std::string why_not;
};

struct ScopeRow {
  std::size_t source = 0;             // position in the sources
  std::optional<std::size_t> inside;  // position in the sources of the next larger whole
  std::optional<Figure> energy;       // of the run, as far as the source tells of it
  Seconds over;
  std::optional<Rest> rest;  // only where something known is inside
};

/// For the price of a second while the job waits.
struct HostWatts {
  std::optional<Watts> value;
  Watts band;           // half width, sampling and calibration
  std::string source;   // "snmp:rack outlet-7 less GPU 0", "rapl package-0 + rapl dram"
  std::string quality;  // in words: what is missing in it; why there is none
};

/// From samples in which the GPU did nothing, before the program's first mark or after its last.
struct IdleShare {
  std::size_t source = 0;
  std::optional<Watts> idle;
  Seconds measured_over;
  std::optional<double> share;  // of the energy of the run
  double band = 0.0;            // half width, sampling only: the sensor's gain cancels
  std::string why_not;
};

struct Scopes {
  std::vector<ScopeRow> rows;  // one per source, in their order
  std::vector<std::string> notes;
  HostWatts host;
  std::vector<IdleShare> idle;  // one per GPU
};

[[nodiscard]] Scopes scopes_of(const record::RunRecord& run, const Timeline& timeline,
                               const std::vector<EnergySource>& sources);

[[nodiscard]] HostWatts host_watts_of(const record::RunRecord& run, const std::vector<EnergySource>& sources,
                                      const std::vector<ScopeRow>& rows);
[[nodiscard]] std::vector<IdleShare> idle_shares_of(const record::RunRecord& run, const Timeline& timeline,
                                                    const std::vector<EnergySource>& sources);

}  // namespace rubato::analyse
