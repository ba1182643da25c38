#include "experiment/evidence_document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiment/calibrate/benchmarks.h"
#include "experiment/evidence_blocks.h"

namespace rubato::experiment {
namespace {

using Json = nlohmann::ordered_json;

template <class Quantity>
Json value(const std::optional<Quantity>& quantity) {
  return quantity ? Json(quantity->value()) : Json();
}
Json value(const std::optional<double>& number) {
  return number ? Json(*number) : Json();
}

Json setting_json(const predict::KnobPoint& at) {
  return {{"found", at == predict::KnobPoint{}},
          {"power_limit_w", value(at.power_limit)},
          {"sm_clock_mhz", value(at.sm_clock)}};
}

Json step_json(const SweepMeasurement& m) {
  return {{"setting", setting_json(m.at)},
          {"units", m.iterations},
          {"time_s", m.time.value()},
          {"energy_j", m.energy.value()},
          {"power_w", m.time.value() > 0 ? Json((m.energy / m.time).value()) : Json()},
          {"energy_band_sampling", m.energy_band},
          {"temperature_c", value(m.temperature)},
          {"reached_sm_clock_mhz", value(m.reached.sm_clock)},
          {"reached_memory_clock_mhz", value(m.reached.memory_clock)},
          {"enforced_limit_w", value(m.reached.enforced_limit)},
          {"limiters", m.reached.limiters},
          {"not_used", m.not_used.empty() ? Json() : Json(m.not_used)},
          {"notes", m.notes}};
}

Json quotient_json(const Quotient& q) {
  return {{"value", q.value}, {"low_90", value(q.low)}, {"high_90", value(q.high)}};
}

Json summary_json(const std::vector<SweepMeasurement>& sweep, TQuantile quantile) {
  const auto summary = summarise_sweep(sweep, quantile);
  if (!summary) return nullptr;
  Json settings = Json::array();
  for (const SweptSetting& s : summary->settings)
    settings.push_back({{"setting", setting_json(s.at)},
                        {"steps", s.runs},
                        {"time_over_found", quotient_json(s.time_over_default)},
                        {"energy_over_found", quotient_json(s.energy_over_default)}});
  Json drift = nullptr;
  if (!summary->drift.empty())
    drift = {{"time", value(summary->drift.front().time)},
             {"energy", value(summary->drift.front().energy)},
             {"time_taken_out", summary->drift.front().time_taken_out},
             {"energy_taken_out", summary->drift.front().energy_taken_out}};
  return {{"time_scatter", summary->time_scatter},
          {"energy_scatter", summary->energy_scatter},
          {"drift", std::move(drift)},
          {"settings", std::move(settings)}};
}

Json kernel_json(const KernelEvidence& kernel, TQuantile quantile) {
  Json steps = Json::array();
  for (const SweepMeasurement& m : kernel.sweep) steps.push_back(step_json(m));
  const auto known = find_benchmark(kernel.kernel);
  return {{"kernel", kernel.kernel},
          {"description", known ? Json((*known)->description) : Json()},
          {"summary", summary_json(kernel.sweep, quantile)},
          {"steps", std::move(steps)}};
}

Json mean_json(const BlockMean& mean) {
  return {{"mean", mean.value}, {"half_width_95", value(mean.half_width)}};
}

Json blocks_json(const KernelEvidence& kernel, const EvidencePlan& plan, TQuantile quantile) {
  Json each = Json::array();
  for (const SweepMeasurement& m : kernel.blocks) each.push_back(step_json(m));
  Json effect = nullptr;
  if (const auto found = effect_of(kernel.blocks, quantile))
    effect = {{"cycles", found->cycles},
              {"time_change", mean_json(found->time)},
              {"energy_change", mean_json(found->energy)},
              {"time_drift", mean_json(found->time_drift)},
              {"energy_drift", mean_json(found->energy_drift)}};
  return {{"kernel", kernel.kernel},
          {"other", setting_json(plan.other)},
          {"order", "found, other, other, found"},
          {"effect", std::move(effect)},
          {"blocks", std::move(each)}};
}

Json times_json(const std::vector<Seconds>& times, std::size_t of) {
  const auto s = summary_of(times);
  Json out = {{"count", times.size()}, {"of", of}};
  out["least_s"] = s ? Json(s->least.value()) : Json();
  out["median_s"] = s ? Json(s->median.value()) : Json();
  out["mean_s"] = s ? Json(s->mean.value()) : Json();
  out["most_s"] = s ? Json(s->most.value()) : Json();
  out["deviation_s"] = s ? value(s->deviation) : Json();
  return out;
}

/// All switches between the same two settings in the same direction.
Json direction_json(const std::vector<const SwitchTimes*>& same) {
  std::vector<Seconds> read_back;
  std::vector<Seconds> clock;
  std::vector<Seconds> power;
  Json each = Json::array();
  for (const SwitchTimes* t : same) {
    if (t->read_back) read_back.push_back(*t->read_back);
    if (t->clock) clock.push_back(*t->clock);
    if (t->power) power.push_back(*t->power);
    each.push_back({{"read_back_s", value(t->read_back)},
                    {"sm_clock_s", value(t->clock)},
                    {"power_s", value(t->power)}});
  }
  return {{"from", setting_json(same.front()->change.from)}, {"to", setting_json(same.front()->change.to)},
          {"read_back", times_json(read_back, same.size())}, {"sm_clock", times_json(clock, same.size())},
          {"power", times_json(power, same.size())},         {"each", std::move(each)}};
}

Json switches_json(const WatchedSwitches& watched) {
  std::vector<std::vector<const SwitchTimes*>> directions;
  for (const SwitchTimes& t : watched.each) {
    const auto same = std::find_if(directions.begin(), directions.end(), [&](const auto& d) {
      return d.front()->change.from == t.change.from && d.front()->change.to == t.change.to;
    });
    if (same == directions.end())
      directions.push_back({&t});
    else
      same->push_back(&t);
  }
  Json out = Json::array();
  for (const auto& direction : directions) out.push_back(direction_json(direction));
  return {
      {"kernel", watched.kernel},
      {"resolution_s", value(watched.resolution)},
      {"from_what", "the moment rubato asked for the change; its journal and the driver's call are in it"},
      {"to_what", "the first of three looks in a row that had gone 90 % of the way"},
      {"directions", std::move(out)}};
}

}  // namespace

Json evidence_json(const Evidence& evidence, const EvidencePlan& plan, const Json& gpu, TQuantile quantile) {
  Json missing = Json::array();
  for (const MissingPart& m : evidence.missing) missing.push_back({{"part", m.part}, {"why", m.why}});
  Json sweeps = Json::array();
  Json blocks = nullptr;
  for (const KernelEvidence& kernel : evidence.kernels) {
    sweeps.push_back(kernel_json(kernel, quantile));
    if (!kernel.blocks.empty()) blocks = blocks_json(kernel, plan, quantile);
  }
  Json restored = nullptr;
  if (evidence.limit_before && evidence.limit_after)
    restored = *evidence.limit_before == *evidence.limit_after;
  return {{"schema", "rubato.evidence/1"},
          {"complete", evidence.missing.empty()},
          {"missing", std::move(missing)},
          {"kind", name_of(evidence.kind)},
          {"date", evidence.date},
          {"rubato_version", evidence.rubato_version},
          {"minutes_asked", evidence.asked.value() / 60},
          {"minutes_taken", evidence.took.value() / 60},
          {"clock_rate", evidence.clock_rate},
          {"gpu", gpu},
          {"sweeps", std::move(sweeps)},
          {"control_blocks", std::move(blocks)},
          {"switching", evidence.switches ? switches_json(*evidence.switches) : Json()},
          {"power_limit",
           {{"before_w", value(evidence.limit_before)},
            {"after_w", value(evidence.limit_after)},
            {"restored", std::move(restored)}}}};
}

}  // namespace rubato::experiment
