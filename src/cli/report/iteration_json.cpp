// The iteration as a member of rubato.run/1: what it took and used, and how it was found.
#include "analyse/iteration_view.h"
#include "cli/report/parts_json.h"
#include "cli/report/run_report.h"

namespace rubato::cli {

using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

namespace {

Value seconds(const std::optional<Seconds>& s, const std::string& why_not = {}) {
  return s ? Value(Amount{s->value(), "s", 4}) : Value(Missing{why_not});
}
Value fraction(const std::optional<double>& value) {
  return value ? Value(Amount{*value, "", 4}) : Value(Missing{});
}
Value of_gpu(const std::optional<GpuId>& gpu) {
  return gpu ? Value(gpu->uuid) : Value(Missing{"the job as a whole"});
}

Value spread(const analyse::Spread& s, const char* unit) {
  return Object{{"mean", Amount{s.mean, unit, 4}},
                {"median", Amount{s.median, unit, 4}},
                {"deviation", Amount{s.deviation, unit, 4}}};
}

Array energies(const analyse::Summary& summary, const analyse::IterationSummary& all) {
  Array energy;
  for (std::size_t i = 0; i < all.energy.size(); ++i) {
    const analyse::IterationEnergy& e = all.energy[i];
    Object row{
        {"source", summary.parts.sources[i].key},
        {"kind", name_of(e.kind)},
        {"apportioned", e.apportioned},
        {"energy_j", e.joules ? spread(*e.joules, "J") : Value(Missing{e.why_not})},
        {"band_sampling_j", e.joules ? Value(Amount{e.band_sampling, "J", 4}) : Value(Missing{})},
        {"band_calibration_j", e.joules ? Value(Amount{e.band_calibration, "J", 4}) : Value(Missing{})},
        {"groups", e.groups},
        {"iterations_per_group", Amount{e.iterations_per_group, "", 1}}};
    if (!e.joules) row.set("why_no_energy", e.why_not);
    energy.emplace_back(std::move(row));
  }
  return energy;
}

Object counted(const analyse::Summary& summary) {
  if (!summary.parts.iterations)
    return Object{{"count", 0},
                  {"training_steps_each", Missing{}},
                  {"time_s", Missing{"no iterations were seen"}},
                  {"time_p05_s", Missing{}},
                  {"time_p95_s", Missing{}},
                  {"energy", Array{}}};
  const analyse::IterationSummary& all = *summary.parts.iterations;
  const auto& steps = summary.timeline.steps_per_iteration;
  return Object{{"count", all.count},
                {"training_steps_each", steps ? Value(*steps) : Value(1)},
                {"time_s", spread(all.seconds, "s")},
                {"time_p05_s", Amount{all.p05, "s", 4}},
                {"time_p95_s", Amount{all.p95, "s", 4}},
                {"energy", energies(summary, all)}};
}

class IterationJson {
 public:
  explicit IterationJson(const record::RunRecord& run) : run_(run) {}

  void add_to(Object& out) const {
    if (const auto view = analyse::iteration_view(run_)) found(*view, out);
    if (const auto over = analyse::tuning_over(run_)) out.set("tuning_over_s", since_begin(over->at));
    if (!run_.shifts.empty()) out.set("shifts", shifts());
    if (!run_.features.empty()) out.set("counters", counters());
  }

 private:
  [[nodiscard]] Value since_begin(TimePoint at) const {
    return Amount{(at - run_.info.begin).value(), "s", 3};
  }

  static void set_estimate(Object& out, const IterationEstimate& e) {
    out.set("source", name_of(e.source));
    out.set("periodic", e.periodic);
    out.set("period_s", seconds(e.period, "no period was found"));
    out.set("half_width_fraction", fraction(e.half_width));
    out.set("relation", e.periodic ? Value(name_of(e.relation)) : Value(Missing{}));
    out.set("confidence", Amount{e.confidence, "", 4});
    out.set("drift_per_minute_fraction", fraction(e.drift_per_minute));
    out.set("launches", e.launches ? Value(*e.launches) : Value(Missing{}));
    out.set("why", e.why);
  }

  [[nodiscard]] Value statement(const record::IterationStatement& s) const {
    Object out{{"at_s", since_begin(s.estimate.at)}, {"gpu", of_gpu(s.gpu)}};
    set_estimate(out, s.estimate);
    out.set("used", s.used);
    out.set("check", s.check);
    return out;
  }

  void found(const analyse::IterationView& view, Object& out) const {
    if (view.in_use) {
      set_estimate(out, view.in_use->estimate);
      out.set("check", view.in_use->check);
    } else {
      out.set("source", Missing{"no source was sure enough"});
    }
    out.set("found_s", view.found ? since_begin(*view.found) : Value(Missing{"no period was in use"}));
    out.set("rate", view.rate ? rate(*view.rate) : Value(Missing{}));
    Array all;
    for (const record::IterationStatement& s : run_.statements) all.push_back(statement(s));
    out.set("statements", std::move(all));
  }

  [[nodiscard]] Value rate(const record::RateStatement& s) const {
    const ProgressRate& r = s.rate;
    return Object{{"begin_s", since_begin(r.begin)},
                  {"end_s", since_begin(r.end)},
                  {"gpu", of_gpu(s.gpu)},
                  {"kind", name_of(r.kind)},
                  {"per_second", Amount{r.per_second, "", 4}},
                  {"half_width_fraction", fraction(r.half_width)},
                  {"confidence", Amount{r.confidence, "", 4}},
                  {"why", r.why}};
  }

  [[nodiscard]] Array shifts() const {
    Array out;
    for (const record::ShiftNoticed& s : run_.shifts)
      out.emplace_back(Object{{"at_s", since_begin(s.shift.at)},
                              {"noticed_s", since_begin(s.shift.noticed)},
                              {"gpu", s.gpu.uuid},
                              {"what", s.shift.what},
                              {"from", Amount{s.shift.from, s.shift.unit, 4}},
                              {"to", Amount{s.shift.to, s.shift.unit, 4}},
                              {"unit", s.shift.unit},
                              {"why", s.shift.why}});
    return out;
  }

  [[nodiscard]] Value kind_of(const GpuId& gpu) const {
    for (const record::DeviceRecord& d : run_.devices)
      if (d.info.identity.id == gpu) return name_of(d.info.kind);
    return Missing{};
  }

  [[nodiscard]] Array counters() const {
    Array out;
    for (const record::FeatureWindow& w : run_.features) {
      Object values;
      for (std::size_t i = 0; i < kFeatureCount; ++i)
        if (const auto value = w.features.values[i])
          values.set(std::string(kFeatureNames[i]), Amount{*value, "", 4});
      out.emplace_back(Object{{"begin_s", since_begin(w.features.begin)},
                              {"end_s", since_begin(w.features.end)},
                              {"gpu", w.gpu.uuid},
                              {"provider", w.provider},
                              {"quality", kind_of(w.gpu)},
                              {"setting", setting_json(w.setting)},
                              {"why", w.why},
                              {"values", std::move(values)}});
    }
    return out;
  }

  const record::RunRecord& run_;
};

}  // namespace

Value iteration_json(const record::RunRecord& run, const analyse::Summary& summary) {
  const bool told =
      !run.statements.empty() || !run.rates.empty() || !run.shifts.empty() || !run.features.empty();
  if (!summary.parts.iterations && !told) return Missing{"no iterations were seen"};
  Object out = counted(summary);
  IterationJson(run).add_to(out);
  return out;
}

}  // namespace rubato::cli
