// Every source of energy of a run, GPUs with their other scopes and meters' channels, behind one face.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyse/energy_curve.h"
#include "record/reader.h"

namespace rubato::analyse {

struct SourceFacts {
  std::string name;  // as people say it: "GPU 0", "GPU 0 memory", "snmp:rack outlet-7"
  std::string key;   // as programs say it: "GPU-…", "GPU-…/memory", "snmp:rack/outlet-7"
  std::string place;
  Scope scope = Scope::gpu;
  Kind kind = Kind::measured;
  double calibration_band = 0.0;  // half width, as a fraction
  Watts calibration_floor;        // half width besides
  Seconds update_period;
  std::optional<std::size_t> gpu;      // position in the record's devices
  std::optional<std::size_t> channel;  // position in the record's channels
  std::optional<EnergyWindow> whole;   // the run's energy as the record tells it
  std::string detail;                  // what is known of the sensor, and what went wrong with it
  std::optional<Seconds> lag;          // a meter's own, behind the GPUs' power
  std::string lag_quality;
};

struct EnergySource {
  SourceFacts facts;
  EnergyCurve curve;
};

/// One for every GPU and channel, whether or not it gave readings; module and memory only where they did.
[[nodiscard]] std::vector<EnergySource> sources_of(const record::RunRecord& run);

/// The board's own sensor of the record's device at this position; null where `sources` are of another run.
[[nodiscard]] const EnergySource* board(const std::vector<EnergySource>& sources, std::size_t gpu);

/// Energy of a source in one stretch.
struct Figure {
  Joules energy;
  Joules band_sampling;  // half widths
  Joules band_calibration;
  Kind kind = Kind::measured;
  bool apportioned = false;  // split by kApportionModel; a simulated GPU's kind says modelled either way
  Seconds unseen;            // without readings, and estimated there
};

/// Below this many updates of the sensor an energy is apportioned, not measured (docs/design.md).
inline constexpr double kUpdatesToMeasure = 50.0;
inline constexpr std::string_view kApportionModel =
    "split by time, at the mean power of the surrounding stretch of at least 50 sensor updates";

[[nodiscard]] Joules calibration_band(const SourceFacts& facts, Joules energy, Seconds over);
[[nodiscard]] bool long_enough(const EnergySource& source, Seconds length);
/// Absent where the source tells nothing of that time.
[[nodiscard]] std::optional<Figure> energy_over(const EnergySource& source, TimePoint begin, TimePoint end);
[[nodiscard]] Figure figure_of(const EnergySource& source, const CurveEnergy& energy, bool apportioned);
/// Of stretches that do not overlap, or of sources whose errors are independent but for calibration.
void add(std::optional<Figure>& sum, const Figure& part);

}  // namespace rubato::analyse
