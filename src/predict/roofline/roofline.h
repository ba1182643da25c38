// Where a workload stands under the roofline (Williams, Waterman, Patterson, CACM 52(4), 2009): which of
// compute and memory holds it up at each clock, and the SM clock at which the one hands over to the other.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "core/feature_schema.h"
#include "predict/roofline/peak_rates.h"

namespace rubato::predict {

struct Clocks {
  Megahertz sm;
  Megahertz memory;
  bool operator==(const Clocks&) const = default;
};

/// At the clocks the counters were read at. Both activities are shares of what the unit could do at these
/// clocks, so their ratio is arithmetic intensity over the ridge's, and no peak rate is needed for it.
struct Position {
  Clocks at;
  std::optional<Pipe> pipe;  // the busiest; absent: only the SMs' activity is known, which no pipe's exceeds
  double compute = 0;        // its activity, or the SMs'
  double memory = 0;
  std::optional<double> intensity;  // of that pipe's operations, for each byte; needs the peak rates

  [[nodiscard]] bool upper_bound() const { return !pipe.has_value(); }
};

enum class Side { compute, memory, unknown };
[[nodiscard]] std::string_view name_of(Side side);

/// `features` named as in kFeatureNames. Nothing where the counters for it are absent, or neither unit works
/// for half a percent of the time.
[[nodiscard]] std::optional<Position> position_of(const std::map<std::string, double>& features,
                                                  const Clocks& at,
                                                  const std::optional<PeakRates>& rates = std::nullopt);
/// For a workload whose operations and bytes are known rather than counted.
[[nodiscard]] std::optional<Position> position_of(Pipe pipe, double operations_per_byte, const Clocks& at,
                                                  const PeakRates& rates);

/// Compute time over memory time at these clocks, each alone: above 1 compute holds the workload up. At most
/// this, where the position is an upper bound. Infinite where no byte moves.
[[nodiscard]] double ratio_at(const Position& position, const Clocks& clocks);
[[nodiscard]] Side side_at(const Position& position, const Clocks& clocks);
/// The SM clock below which compute holds the workload up and above which memory does. It may lie outside
/// what the GPU can do. Nothing where no byte moves; at most this where the position is an upper bound.
[[nodiscard]] std::optional<Megahertz> memory_knee(const Position& position, Megahertz memory);

struct Standing {
  Clocks clocks;
  double ratio = 0;
  Side side = Side::unknown;
  std::optional<double> ridge;  // operations for each byte, of the position's pipe
};
[[nodiscard]] std::vector<Standing> standings(const Position& position, std::span<const Clocks> clocks,
                                              const std::optional<PeakRates>& rates);

/// One sentence for people; `highest` bounds what clocks can be asked for.
[[nodiscard]] std::string describe(const Position& position, Megahertz highest);

inline constexpr std::string_view kRooflineRatio = "roofline_log2_ratio";
inline constexpr std::string_view kRooflineKnee = "roofline_knee_fraction";
inline constexpr std::string_view kRooflineReach = "roofline_reach";
/// For models, from the counters at the default setting alone; what cannot be told is left out.
/// roofline_log2_ratio: of compute over memory activity, -6 to 6. roofline_knee_fraction: memory knee over
/// the highest SM clock, 0 to 4 (needs sm_clock_fraction). roofline_reach: the higher of the two activities,
/// the share of the roof that is reached. Where only the SMs' activity is counted the first two are upper
/// bounds, on every workload of that GPU alike.
[[nodiscard]] std::map<std::string, double> roofline_features(const std::map<std::string, double>& features);

/// What was counted, by name.
[[nodiscard]] std::map<std::string, double> named_features(const FeatureVector& counted);

}  // namespace rubato::predict
