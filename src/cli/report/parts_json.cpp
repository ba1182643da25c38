#include "cli/report/parts_json.h"

namespace rubato::cli {

using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

namespace {

using analyse::Parts;
using analyse::SpanEnergy;
using analyse::SplitEnergy;

Value seconds(Seconds s) {
  return Amount{s.value(), "s", 3};
}
Value joules(const std::optional<Joules>& j) {
  return j ? Value(Amount{j->value(), "J"}) : Value(Missing{});
}

Value spans(const analyse::Summary& summary, const std::vector<SpanEnergy>& all) {
  Array out;
  for (const SpanEnergy& s : all) {
    Array energy;
    for (std::size_t i = 0; i < s.energy.size(); ++i)
      energy.emplace_back(
          Object{{"source", summary.parts.sources[i].key}, {"energy", figure_json(s.energy[i])}});
    Object row{{"begin_s", seconds(s.span.begin - summary.timeline.begin)},
               {"end_s", seconds(s.span.end - summary.timeline.begin)},
               {"cut_short", s.span.cut_short},
               {"iterations", s.iterations},
               {"iteration_time_s", s.iteration_time ? seconds(*s.iteration_time) : Value(Missing{})},
               {"energy", std::move(energy)}};
    if (s.span.kind == analyse::SpanKind::epoch)
      row.set("epoch", Value(static_cast<std::int64_t>(s.span.id)));
    else
      row.set("name", s.span.name);
    out.emplace_back(std::move(row));
  }
  return out;
}

Value split(const Parts& parts, const std::vector<SplitEnergy>& energies) {
  Array out;
  for (std::size_t i = 0; i < energies.size(); ++i)
    out.emplace_back(Object{{"source", parts.sources[i].key},
                            {"measured", figure_json(energies[i].measured)},
                            {"apportioned", figure_json(energies[i].apportioned)}});
  return out;
}

Value sum(const Parts& parts) {
  Array rows;
  for (const analyse::Part& part : parts.rows)
    rows.emplace_back(Object{{"part", part.label},
                             {"times", part.times},
                             {"time_s", seconds(part.time)},
                             {"energy", split(parts, part.energy)}});
  Array balance;
  for (std::size_t i = 0; i < parts.balance.size(); ++i) {
    const analyse::Balance& b = parts.balance[i];
    balance.emplace_back(Object{{"source", parts.sources[i].key},
                                {"run_j", joules(b.run)},
                                {"measured_j", joules(b.measured)},
                                {"apportioned_j", joules(b.apportioned)},
                                {"residual_j", joules(b.residual)},
                                {"settled_j", joules(b.settled)},
                                {"band_sampling_j", b.run ? joules(b.band_sampling) : Value(Missing{})},
                                {"time_s", seconds(b.time)}});
  }
  return Object{{"rows", std::move(rows)},
                {"balance", std::move(balance)},
                {"apportioned_by", analyse::kApportionModel}};
}

Value remarks(const std::vector<analyse::Remark>& all, TimePoint begin) {
  Array out;
  for (const analyse::Remark& r : all)
    out.emplace_back(Object{{"at_s", seconds(r.at - begin)}, {"text", r.text}});
  return out;
}

}  // namespace

Value figure_json(const std::optional<analyse::Figure>& f) {
  if (!f) return Missing{};
  return Object{{"energy_j", Amount{f->energy.value(), "J"}},
                {"band_sampling_j", Amount{f->band_sampling.value(), "J"}},
                {"band_calibration_j", Amount{f->band_calibration.value(), "J"}},
                {"kind", name_of(f->kind)},
                {"apportioned", f->apportioned},
                {"unseen_s", Amount{f->unseen.value(), "s", 3}}};
}

void set_parts(Object& out, const record::RunRecord& run, const analyse::Summary& summary) {
  const Parts& parts = summary.parts;
  Array phases;
  for (const analyse::PhaseEnergy& phase : parts.phases)
    phases.emplace_back(Object{{"phase", phase.name},
                               {"times", phase.times},
                               {"time_s", seconds(phase.time)},
                               {"energy", split(parts, phase.energy)}});
  out.set("sources", sources_json(summary));
  out.set("epochs_planned", summary.timeline.planned_epochs ? Value(*summary.timeline.planned_epochs)
                                                            : Value(Missing{"the program did not say"}));
  out.set("epochs", spans(summary, parts.epochs));
  out.set("windows", spans(summary, parts.windows));
  out.set("phases", std::move(phases));
  out.set("iteration", iteration_json(run, summary));
  out.set("parts", sum(parts));
  out.set("hooks", remarks(summary.timeline.hooks, summary.timeline.begin));
  out.set("problems", remarks(summary.timeline.problems, summary.timeline.begin));
  out.set("marks_ignored", Value(summary.timeline.ignored));
}

}  // namespace rubato::cli
