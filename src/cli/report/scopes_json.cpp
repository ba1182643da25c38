#include "cli/report/parts_json.h"

namespace rubato::cli {

using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

namespace {

Value rest(const std::optional<analyse::Rest>& r) {
  if (!r) return Missing{"nothing known is inside"};
  Object out{{"energy_j", r->energy ? Value(Amount{r->energy->value(), "J"}) : Value(Missing{r->why_not})},
             {"band_j", Amount{r->band.value(), "J"}},
             {"over_s", Amount{r->over.value(), "s", 3}}};
  if (!r->energy) out.set("why_no_energy", r->why_not);
  return out;
}

Value outlook(const std::optional<analyse::Outlook>& o, const char* unit) {
  if (!o) return Missing{"the program did not say how many epochs there will be"};
  Object out{
      {"value", Amount{o->value, unit, 3}},
      {"low_95", o->interval ? Value(Amount{o->interval->low, unit, 3}) : Value(Missing{o->why_no_interval})},
      {"high_95",
       o->interval ? Value(Amount{o->interval->high, unit, 3}) : Value(Missing{o->why_no_interval})}};
  if (!o->interval) out.set("why_no_interval", o->why_no_interval);
  return out;
}

Value shares(const std::vector<analyse::KernelShare>& all) {
  Array out;
  for (const analyse::KernelShare& s : all)
    out.emplace_back(
        Object{{"name", s.name},
               {"times", s.times},
               {"time_s", Amount{s.time.value(), "s", 6}},
               {"share", Amount{s.share, "", 4}},
               {"energy_j", s.energy ? Value(Amount{s.energy->value(), "J"}) : Value(Missing{})}});
  return out;
}

}  // namespace

Value sources_json(const analyse::Summary& summary) {
  const auto& sources = summary.parts.sources;
  Array out;
  for (const analyse::ScopeRow& row : summary.scopes.rows) {
    const analyse::SourceFacts& facts = sources[row.source];
    out.emplace_back(Object{
        {"source", facts.key},
        {"name", facts.name},
        {"place", facts.place},
        {"scope", name_of(facts.scope)},
        {"inside", row.inside ? Value(sources[*row.inside].key) : Value(Missing{})},
        {"kind", name_of(facts.kind)},
        {"detail", facts.detail},
        {"update_period_s", Amount{facts.update_period.value(), "s", 3}},
        {"energy", figure_json(row.energy)},
        {"over_s", row.energy ? Value(Amount{row.over.value(), "s", 3}) : Value(Missing{"no readings"})},
        {"lag_s", facts.lag ? Value(Amount{facts.lag->value(), "s", 3}) : Value(Missing{facts.lag_quality})},
        {"lag_quality", facts.lag_quality},
        {"not_accounted_for", rest(row.rest)}});
  }
  return out;
}

Value host_watts_json(const analyse::HostWatts& host) {
  return Object{
      {"value_w", host.value ? Value(Amount{host.value->value(), "W"}) : Value(Missing{host.quality})},
      {"band_w", host.value ? Value(Amount{host.band.value(), "W"}) : Value(Missing{host.quality})},
      {"source", host.source},
      {"quality", host.quality}};
}

Value idle_json(const analyse::Summary& summary) {
  Array out;
  for (const analyse::IdleShare& s : summary.scopes.idle) {
    Object row{{"source", summary.parts.sources[s.source].key},
               {"idle_w", s.idle ? Value(Amount{s.idle->value(), "W"}) : Value(Missing{s.why_not})},
               {"measured_over_s",
                s.idle ? Value(Amount{s.measured_over.value(), "s", 3}) : Value(Missing{s.why_not})},
               {"share", s.share ? Value(Amount{*s.share, "", 4}) : Value(Missing{s.why_not})},
               {"band_sampling", s.share ? Value(Amount{s.band, "", 4}) : Value(Missing{s.why_not})}};
    if (!s.share) row.set("why_not", s.why_not);
    out.emplace_back(std::move(row));
  }
  return out;
}

Value kernels_json(const analyse::Summary& summary) {
  Array out;
  for (const analyse::KernelSummary& k : summary.kernels)
    out.emplace_back(Object{{"gpu", k.gpu},
                            {"kind", name_of(k.kind)},
                            {"apportioned_by", k.model},
                            {"recorded_s", Amount{k.recorded.value(), "s", 3}},
                            {"kernels", k.kernels},
                            {"lost", k.lost},
                            {"busy", Amount{k.busy, "", 4}},
                            {"names", shares(k.names)},
                            {"layers", shares(k.layers)}});
  return out;
}

Value forecast_json(const Result<analyse::Forecast>& forecast) {
  if (!forecast) return Missing{forecast.error().what};
  const analyse::Forecast& f = *forecast;
  return Object{
      {"epochs_done", f.epochs_done},
      {"epochs_planned", f.epochs_planned ? Value(*f.epochs_planned) : Value(Missing{})},
      {"first_epoch_left_out", f.first_left_out},
      {"kind", name_of(f.kind)},
      {"apportioned", f.apportioned},
      {"epoch_time_s", outlook(f.epoch_seconds, "s")},
      {"epoch_energy_j", outlook(f.epoch_joules, "J")},
      {"total_time_s", outlook(f.total_seconds, "s")},
      {"total_energy_j", outlook(f.total_joules, "J")},
      {"total_cost", f.total_cost ? outlook(f.total_cost, "") : Value(Missing{"no price was given"})},
      {"confidence", Amount{analyse::kForecastConfidence, ""}},
      {"method", f.method}};
}

Value footprint_json(const analyse::Footprint& f, const analyse::Factors& factors) {
  return Object{
      {"energy_kwh", Amount{f.kwh, "kWh", 6}},
      {"co2_g", f.co2_grams ? Value(Amount{*f.co2_grams, "g"}) : Value(Missing{"no factor was given"})},
      {"cost",
       f.cost ? Value(Amount{*f.cost, factors.price->currency, 4}) : Value(Missing{"no price was given"})},
      {"currency", factors.price ? Value(factors.price->currency) : Value(Missing{"no price was given"})},
      {"computed_from_a_factor", true},
      {"basis", f.basis}};
}

}  // namespace rubato::cli
