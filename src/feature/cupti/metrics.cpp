#include "feature/cupti/metrics.h"

#include <cmath>
#include <utility>

namespace rubato::feature::cupti {
namespace {

// Of a unit's highest sustained rate, over all cycles that passed: what "fraction of cycles it worked" is.
#define RUBATO_SHARE(counter) counter ".avg.pct_of_peak_sustained_elapsed"
#define RUBATO_RATE(counter) counter ".sum.per_second"
// Chips of data centres from Hopper on have some counters only inside this set.
#define RUBATO_TPC(counter) "TPC.TriageCompute." counter

constexpr double kPercent = 0.01;

// "_realtime" ones are counted beside one another where their plain namesakes need a pass each.
constexpr Way kSmActive[] = {{RUBATO_SHARE("sm__cycles_active")}};
constexpr Way kTensor[] = {{RUBATO_SHARE("sm__pipe_tensor_cycles_active_realtime")},
                           {RUBATO_SHARE("sm__pipe_tensor_cycles_active")}};
constexpr Way kDram[] = {{RUBATO_SHARE("dram__cycles_active")}, {RUBATO_SHARE("dramc__cycles_active")}};
// The FMA pipe of Ampere and newer has two halves, for which most chips have separate counters.
constexpr Way kFp32[] = {{RUBATO_SHARE("sm__pipe_fma_cycles_active_realtime")},
                         {RUBATO_SHARE("sm__inst_executed_pipe_fma_realtime")},
                         {RUBATO_SHARE("sm__inst_executed_pipe_fmaheavy_realtime"),
                          RUBATO_SHARE("sm__inst_executed_pipe_fmalite_realtime")},
                         {RUBATO_SHARE(RUBATO_TPC("sm__inst_executed_pipe_fma_realtime"))}};
constexpr Way kOccupancy[] = {{RUBATO_SHARE("sm__warps_active_realtime")},
                              {RUBATO_SHARE("tpc__warps_active_realtime")}};
constexpr Way kInstructions[] = {{RUBATO_RATE("sm__inst_executed_realtime")}};
constexpr Way kSmCycles[] = {{RUBATO_RATE("sm__cycles_active")}};
constexpr Way kFp16[] = {{RUBATO_SHARE("sm__inst_executed_pipe_fp16")},
                         {RUBATO_SHARE("sm__inst_executed_pipe_fma_type_fp16")}};
constexpr Way kInteger[] = {{RUBATO_SHARE("sm__inst_executed_pipe_alu_realtime")}};
constexpr Way kFp64[] = {{RUBATO_SHARE("sm__pipe_fp64_cycles_active")},
                         {RUBATO_SHARE(RUBATO_TPC("sm__pipe_fp64_cycles_active_realtime"))}};
constexpr Way kL2[] = {{RUBATO_SHARE("lts__t_sectors")}};
constexpr Way kL2Sectors[] = {{RUBATO_RATE("lts__t_sectors")}};
constexpr Way kL2Hits[] = {{"lts__average_t_sector_hit_rate_realtime.pct"},
                           {"LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct"}};
constexpr Way kPcieRx[] = {{RUBATO_RATE("pcie__read_bytes")},
                           {RUBATO_RATE("PCI.TriageCompute.pcie__read_bytes")}};
constexpr Way kPcieTx[] = {{RUBATO_RATE("pcie__write_bytes")},
                           {RUBATO_RATE("PCI.TriageCompute.pcie__write_bytes")}};
constexpr Way kNvlinkRx[] = {{RUBATO_RATE("nvlrx__bytes")}};
constexpr Way kNvlinkTx[] = {{RUBATO_RATE("nvltx__bytes")}};
constexpr Way kSpecial[] = {{RUBATO_SHARE("sm__inst_executed_pipe_xu_realtime")}};
constexpr Way kInterpolate[] = {{RUBATO_SHARE("sm__inst_executed_pipe_ipa_realtime")}};

#undef RUBATO_SHARE
#undef RUBATO_RATE
#undef RUBATO_TPC

// What training turns on first. Tried and never found beside the rest, on no chip: L1 hits and the branch,
// address, uniform, load/store and texture pipes.
constexpr Wanted kWanted[] = {{Quantity::sm_active, kPercent, kSmActive},
                              {Quantity::tensor_active, kPercent, kTensor},
                              {Quantity::dram_active, kPercent, kDram},
                              {Quantity::fp32_active, kPercent, kFp32},
                              {Quantity::sm_occupancy, kPercent, kOccupancy},
                              {Quantity::instructions, 1, kInstructions},
                              {Quantity::sm_cycles, 1, kSmCycles},
                              {Quantity::fp16_active, kPercent, kFp16},
                              {Quantity::integer_active, kPercent, kInteger},
                              {Quantity::fp64_active, kPercent, kFp64},
                              {Quantity::l2_active, kPercent, kL2},
                              {Quantity::l2_sectors, 1, kL2Sectors},
                              {Quantity::l2_hits, kPercent, kL2Hits},
                              {Quantity::pcie_rx, 1, kPcieRx},
                              {Quantity::pcie_tx, 1, kPcieTx},
                              {Quantity::nvlink_rx, 1, kNvlinkRx},
                              {Quantity::nvlink_tx, 1, kNvlinkTx},
                              {Quantity::special_active, kPercent, kSpecial},
                              {Quantity::interpolate_active, kPercent, kInterpolate}};

constexpr std::pair<Quantity, Feature> kPlain[] = {
    {Quantity::sm_active, Feature::sm_active},
    {Quantity::sm_occupancy, Feature::sm_occupancy},
    {Quantity::tensor_active, Feature::tensor_active},
    {Quantity::fp64_active, Feature::fp64_active},
    {Quantity::fp32_active, Feature::fp32_active},
    {Quantity::fp16_active, Feature::fp16_active},
    {Quantity::integer_active, Feature::integer_active},
    {Quantity::dram_active, Feature::dram_active},
    {Quantity::l2_active, Feature::l2_active},
    {Quantity::pcie_tx, Feature::pcie_tx_bytes_per_s},
    {Quantity::pcie_rx, Feature::pcie_rx_bytes_per_s},
    {Quantity::nvlink_tx, Feature::nvlink_tx_bytes_per_s},
    {Quantity::nvlink_rx, Feature::nvlink_rx_bytes_per_s},
    {Quantity::instructions, Feature::instructions_per_second},
    {Quantity::l2_hits, Feature::l2_hit_fraction},
    {Quantity::special_active, Feature::special_active},
    {Quantity::interpolate_active, Feature::interpolate_active}};

constexpr std::size_t at(Quantity q) {
  return static_cast<std::size_t>(q);
}

}  // namespace

std::span<const Wanted> wanted() {
  return kWanted;
}

std::vector<const char*> metrics_of(std::span<const Counted> counted) {
  std::vector<const char*> names;
  for (const Counted& one : counted) {
    names.push_back(one.way.metric);
    if (one.way.second != nullptr) names.push_back(one.way.second);
  }
  return names;
}

std::vector<Feature> features_of(std::span<const Counted> counted) {
  std::array<bool, kQuantityCount> has{};
  for (const Counted& one : counted) has[at(one.quantity)] = true;
  std::vector<Feature> features;
  for (const auto& [quantity, feature] : kPlain)
    if (has[at(quantity)]) features.push_back(feature);
  if (has[at(Quantity::instructions)]) {
    if (has[at(Quantity::sm_cycles)]) features.push_back(Feature::instructions_per_cycle);
    if (has[at(Quantity::l2_sectors)] && has[at(Quantity::l2_hits)])
      features.push_back(Feature::l2_misses_per_instruction);
  }
  return features;
}

void Means::add(std::span<const double> values, double seconds) {
  std::array<std::optional<double>, kQuantityCount> now{};
  std::size_t next = 0;
  for (const Counted& one : counted_) {
    const std::size_t metrics = one.way.second != nullptr ? 2 : 1;
    if (next + metrics > values.size()) return;
    double value = values[next];
    if (metrics == 2) value = (value + values[next + 1]) / 2;
    next += metrics;
    if (std::isfinite(value) && value >= 0) now[at(one.quantity)] = value * one.scale;
  }
  seconds_ += seconds;
  for (std::size_t q = 0; q < kQuantityCount; ++q) {
    if (!now[q]) continue;
    means_[q].sum += *now[q] * seconds;
    means_[q].weight += seconds;
  }
  const auto sectors = now[at(Quantity::l2_sectors)];
  const auto instructions = now[at(Quantity::instructions)];
  auto hits = now[at(Quantity::l2_hits)];
  if (sectors && *sectors == 0) hits = 1;  // nothing was looked up, nothing was missed
  if (!sectors || !instructions || !hits) return;
  l2_misses_ += *sectors * (1 - *hits) * seconds;
  with_instructions_ += *instructions * seconds;
}

std::optional<double> Means::mean(Quantity q) const {
  const Mean& mean = means_[at(q)];
  if (mean.weight <= 0) return std::nullopt;
  return mean.sum / mean.weight;
}

void Means::fill(FeatureVector& out) const {
  for (const auto& [quantity, feature] : kPlain) out[feature] = mean(quantity);
  const auto instructions = mean(Quantity::instructions);
  const auto cycles = mean(Quantity::sm_cycles);
  if (instructions && cycles && *cycles > 0) out[Feature::instructions_per_cycle] = *instructions / *cycles;
  if (with_instructions_ > 0) out[Feature::l2_misses_per_instruction] = l2_misses_ / with_instructions_;
}

}  // namespace rubato::feature::cupti
