// The spelling of every enumeration that users, files and messages see.
#include <array>
#include <utility>

#include "base/text.h"
#include "core/block_role.h"
#include "core/iteration_estimate.h"
#include "core/kind.h"
#include "core/layer_demand.h"
#include "core/objective.h"
#include "core/restoration.h"
#include "core/setting.h"

namespace rubato {
namespace {

template <class E, std::size_t N>
using Spelling = std::array<std::pair<E, std::string_view>, N>;

constexpr Spelling<LayerPass, 3> kLayerPasses = {{{LayerPass::forward, "forward"},
                                                  {LayerPass::backward, "backward"},
                                                  {LayerPass::optimizer, "optimizer"}}};
constexpr Spelling<Precision, 4> kPrecisions = {{{Precision::fp32, "fp32"},
                                                 {Precision::tf32, "tf32"},
                                                 {Precision::fp16, "fp16"},
                                                 {Precision::bf16, "bf16"}}};
constexpr Spelling<Kind, 5> kKinds = {{{Kind::measured, "measured"},
                                       {Kind::apportioned, "apportioned"},
                                       {Kind::replayed, "replayed"},
                                       {Kind::interpolated, "interpolated"},
                                       {Kind::modelled, "modelled"}}};
constexpr Spelling<Scope, 10> kScopes = {{{Scope::gpu, "gpu"},
                                          {Scope::module, "module"},
                                          {Scope::memory, "memory"},
                                          {Scope::cpu_package, "cpu_package"},
                                          {Scope::cpu_cores, "cpu_cores"},
                                          {Scope::cpu_uncore, "cpu_uncore"},
                                          {Scope::dram, "dram"},
                                          {Scope::platform, "platform"},
                                          {Scope::node, "node"},
                                          {Scope::rail, "rail"}}};
constexpr Spelling<Knob, 4> kKnobs = {{{Knob::power_limit, "power-limit"},
                                       {Knob::sm_clock, "sm-clock"},
                                       {Knob::memory_clock, "memory-clock"},
                                       {Knob::application_clocks, "application-clocks"}}};
constexpr Spelling<Objective, 5> kObjectives = {{{Objective::energy, "energy"},
                                                 {Objective::edp, "edp"},
                                                 {Objective::ed2p, "ed2p"},
                                                 {Objective::cost, "cost"},
                                                 {Objective::time, "time"}}};
constexpr Spelling<BlockRole, 5> kBlockRoles = {{{BlockRole::warmup, "warmup"},
                                                 {BlockRole::baseline, "baseline"},
                                                 {BlockRole::trial, "trial"},
                                                 {BlockRole::hold, "hold"},
                                                 {BlockRole::control, "control"}}};
constexpr Spelling<Restoration, 4> kRestorations = {{{Restoration::not_needed, "not_needed"},
                                                     {Restoration::restored, "restored"},
                                                     {Restoration::failed, "failed"},
                                                     {Restoration::left_alone, "left_alone"}}};
constexpr Spelling<ProgressSource, 3> kProgressSources = {{{ProgressSource::marks, "marks"},
                                                           {ProgressSource::kernels, "kernels"},
                                                           {ProgressSource::telemetry, "telemetry"}}};
constexpr Spelling<PeriodRelation, 3> kPeriodRelations = {{{PeriodRelation::exact, "exact"},
                                                           {PeriodRelation::multiple, "multiple"},
                                                           {PeriodRelation::beat, "beat"}}};
constexpr Spelling<RateKind, 3> kRateKinds = {{{RateKind::instructions, "instructions"},
                                               {RateKind::kernels, "kernels"},
                                               {RateKind::busy_time, "busy_time"}}};

template <class E, std::size_t N>
std::string_view spell(const Spelling<E, N>& table, E value) {
  for (const auto& [e, name] : table)
    if (e == value) return name;
  return "unknown";
}

template <class E, std::size_t N>
Result<E> parse_name(const Spelling<E, N>& table, std::string_view what, std::string_view text) {
  std::string known;
  for (const auto& [e, name] : table) {
    if (name == text) return e;
    known += cat(known.empty() ? "" : ", ", name);
  }
  return fail(ErrorCode::invalid_argument, cat("'", text, "' is no ", what), cat("use one of: ", known));
}

std::string describe(ClockRange range) {
  return range.min == range.max ? cat(range.max) : cat(number(range.min.value(), 1), "-", range.max);
}

}  // namespace

Result<Kind> parse_kind(std::string_view name) {
  return parse_name(kKinds, "kind of number", name);
}
Result<Scope> parse_scope(std::string_view name) {
  return parse_name(kScopes, "scope", name);
}
std::string_view name_of(Kind kind) {
  return spell(kKinds, kind);
}
std::string_view name_of(Scope scope) {
  return spell(kScopes, scope);
}
std::string_view name_of(LayerPass pass) {
  return spell(kLayerPasses, pass);
}
std::string_view name_of(Precision precision) {
  return spell(kPrecisions, precision);
}
std::string_view name_of(Knob knob) {
  return spell(kKnobs, knob);
}
std::string_view name_of(Objective objective) {
  return spell(kObjectives, objective);
}
std::string_view name_of(Restoration restoration) {
  return spell(kRestorations, restoration);
}
std::string_view name_of(BlockRole role) {
  return spell(kBlockRoles, role);
}
std::string_view name_of(ProgressSource source) {
  return spell(kProgressSources, source);
}
std::string_view name_of(PeriodRelation relation) {
  return spell(kPeriodRelations, relation);
}
std::string_view name_of(RateKind kind) {
  return spell(kRateKinds, kind);
}
Result<ProgressSource> parse_progress_source(std::string_view name) {
  return parse_name(kProgressSources, "source of progress", name);
}
Result<PeriodRelation> parse_period_relation(std::string_view name) {
  return parse_name(kPeriodRelations, "relation of a period to the iteration", name);
}
Result<BlockRole> parse_block_role(std::string_view name) {
  return parse_name(kBlockRoles, "block role", name);
}
Result<LayerPass> parse_layer_pass(std::string_view name) {
  return parse_name(kLayerPasses, "pass", name);
}
Result<Precision> parse_precision(std::string_view name) {
  return parse_name(kPrecisions, "precision", name);
}
Result<Knob> parse_knob(std::string_view name) {
  return parse_name(kKnobs, "knob", name);
}
Result<Objective> parse_objective(std::string_view name) {
  return parse_name(kObjectives, "objective", name);
}
Result<Restoration> parse_restoration(std::string_view name) {
  return parse_name(kRestorations, "restoration outcome", name);
}

unsigned bytes_of(Precision precision) {
  return precision == Precision::fp16 || precision == Precision::bf16 ? 2 : 4;
}

std::string describe(const Setting& setting) {
  std::string out;
  const auto add = [&out](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
  if (setting.power_limit) add(cat(*setting.power_limit));
  if (setting.sm_clock) add("SM " + describe(*setting.sm_clock));
  if (setting.memory_clock) add("memory " + describe(*setting.memory_clock));
  if (setting.application_clocks) {
    add(cat("application clocks SM ", setting.application_clocks->sm, " memory ",
            setting.application_clocks->memory));
  }
  return out.empty() ? "nothing" : out;
}

}  // namespace rubato
