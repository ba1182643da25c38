#include "feature/gpoeo_metrics.h"

#include <algorithm>

namespace rubato::feature::gpoeo {
namespace {

constexpr std::array<MetricRow, kMetricCount> kRows = {{
    {Metric::instructions, "sm__inst_executed.sum", 0, "divides misses per instruction"},
    {Metric::instructions_pct, "sm__inst_executed.sum.pct_of_peak_sustained_active", 0,
     "instructions_per_cycle = % of 4"},
    {Metric::instructions_per_second, "sm__inst_executed.sum.per_second", 0, "instructions_per_second"},
    {Metric::sm_cycles_active, "sm__cycles_active.avg", 0, "sm_active = active / elapsed"},
    {Metric::sm_cycles_elapsed, "sm__cycles_elapsed.avg", 0, "sm_active = active / elapsed"},
    {Metric::gpu_cycles_active, "gpu__cycles_active.avg", 0, "nothing"},
    {Metric::l1_hits, "l1tex__t_sectors_lookup_hit.sum", 0, "l1_hit_fraction = hits / (hits + misses)"},
    {Metric::l1_misses, "l1tex__t_sectors_lookup_miss.sum", 0,
     "l1_hit_fraction; l1_misses_per_instruction = misses / instructions"},
    {Metric::l2_hits, "lts__t_sectors_lookup_hit.sum", 0, "l2_hit_fraction = hits / (hits + misses)"},
    {Metric::tensor_pct, "sm__inst_executed_pipe_tensor.sum.pct_of_peak_sustained_active", 0,
     "tensor_active"},
    {Metric::l2_misses, "lts__t_sectors_lookup_miss.sum", 1,
     "l2_hit_fraction; l2_misses_per_instruction = misses / instructions"},
    {Metric::adu_pct, "sm__inst_executed_pipe_adu.sum.pct_of_peak_sustained_active", 1, "address_active"},
    {Metric::fma_pct, "sm__inst_executed_pipe_fma.sum.pct_of_peak_sustained_active", 1, "fp32_active"},
    {Metric::alu_pct, "sm__inst_executed_pipe_alu.sum.pct_of_peak_sustained_active", 1, "integer_active"},
    {Metric::fp16_pct, "sm__inst_executed_pipe_fma_type_fp16.sum.pct_of_peak_sustained_active", 2,
     "fp16_active"},
    {Metric::fp64_pct, "sm__inst_executed_pipe_fp64.sum.pct_of_peak_sustained_active", 2, "fp64_active"},
    {Metric::xu_pct, "sm__inst_executed_pipe_xu.sum.pct_of_peak_sustained_active", 2, "special_active"},
    {Metric::tex_pct, "sm__inst_executed_pipe_tex.sum.pct_of_peak_sustained_active", 2, "texture_active"},
    {Metric::cbu_pct, "sm__inst_executed_pipe_cbu.sum.pct_of_peak_sustained_active", 3, "branch_active"},
    {Metric::ipa_pct, "sm__inst_executed_pipe_ipa.sum.pct_of_peak_sustained_active", 3, "interpolate_active"},
    {Metric::lsu_pct, "sm__inst_executed_pipe_lsu.sum.pct_of_peak_sustained_active", 3, "load_store_active"},
    {Metric::uniform_pct, "sm__inst_executed_pipe_uniform.sum.pct_of_peak_sustained_active", 3,
     "uniform_active"},
}};
constexpr std::string_view kFp16OnTuring = "sm__inst_executed_pipe_fp16.sum.pct_of_peak_sustained_active";

struct Pipe {
  Metric metric;
  Feature feature;
};
// In the order of the last twelve model inputs.
constexpr std::array<Pipe, 12> kPipes = {{{Metric::tensor_pct, Feature::tensor_active},
                                          {Metric::adu_pct, Feature::address_active},
                                          {Metric::fma_pct, Feature::fp32_active},
                                          {Metric::alu_pct, Feature::integer_active},
                                          {Metric::fp16_pct, Feature::fp16_active},
                                          {Metric::fp64_pct, Feature::fp64_active},
                                          {Metric::xu_pct, Feature::special_active},
                                          {Metric::tex_pct, Feature::texture_active},
                                          {Metric::cbu_pct, Feature::branch_active},
                                          {Metric::ipa_pct, Feature::interpolate_active},
                                          {Metric::lsu_pct, Feature::load_store_active},
                                          {Metric::uniform_pct, Feature::uniform_active}}};

// An SM's four partitions issue one instruction a cycle each: Volta to Blackwell (architecture whitepapers).
constexpr double kMostInstructionsPerCycle = 4;
constexpr double kPercent = 100;

std::optional<double> quotient(std::optional<double> over, std::optional<double> under) {
  if (!over || !under || *under <= 0) return std::nullopt;
  return *over / *under;
}

std::optional<double> sum(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

std::optional<double> times(std::optional<double> value, double factor) {
  if (!value) return std::nullopt;
  return *value * factor;
}

std::optional<double> capped(std::optional<double> value) {
  constexpr double kCap = 99.99;
  if (!value) return std::nullopt;
  return std::min(*value, kCap);
}

}  // namespace

std::span<const MetricRow, kMetricCount> metric_rows() {
  return kRows;
}

std::optional<Metric> find_metric(std::string_view name) {
  if (name == kFp16OnTuring) return Metric::fp16_pct;
  for (const MetricRow& row : kRows)
    if (row.name == name) return row.metric;
  return std::nullopt;
}

FeatureVector features_of(const RawMetrics& raw) {
  FeatureVector out;
  out[Feature::sm_active] = quotient(raw[Metric::sm_cycles_active], raw[Metric::sm_cycles_elapsed]);
  out[Feature::instructions_per_cycle] =
      times(raw[Metric::instructions_pct], kMostInstructionsPerCycle / kPercent);
  out[Feature::instructions_per_second] = raw[Metric::instructions_per_second];
  out[Feature::l1_hit_fraction] =
      quotient(raw[Metric::l1_hits], sum(raw[Metric::l1_hits], raw[Metric::l1_misses]));
  out[Feature::l2_hit_fraction] =
      quotient(raw[Metric::l2_hits], sum(raw[Metric::l2_hits], raw[Metric::l2_misses]));
  out[Feature::l1_misses_per_instruction] = quotient(raw[Metric::l1_misses], raw[Metric::instructions]);
  out[Feature::l2_misses_per_instruction] = quotient(raw[Metric::l2_misses], raw[Metric::instructions]);
  for (const Pipe& pipe : kPipes) out[pipe.feature] = times(raw[pipe.metric], 1 / kPercent);
  return out;
}

std::array<std::optional<double>, kInputCount> model_inputs(const RawMetrics& raw, double clock_ratio) {
  constexpr double kInstructionScale = 1.2;
  constexpr double kMissScale = 250;
  const auto miss_pct = [&](Metric misses, Metric hits) {
    return capped(times(quotient(raw[misses], sum(raw[hits], raw[misses])), kPercent));
  };
  const auto per_instruction = [&](Metric misses) {
    return capped(times(quotient(raw[misses], raw[Metric::instructions]), kMissScale));
  };
  std::array<std::optional<double>, kInputCount> out = {
      clock_ratio,
      capped(times(raw[Metric::instructions_pct], kInstructionScale)),
      per_instruction(Metric::l1_misses),
      miss_pct(Metric::l1_misses, Metric::l1_hits),
      per_instruction(Metric::l2_misses),
      miss_pct(Metric::l2_misses, Metric::l2_hits)};
  std::size_t next = 6;
  for (const Pipe& pipe : kPipes) out.at(next++) = capped(raw[pipe.metric]);
  return out;
}

}  // namespace rubato::feature::gpoeo
