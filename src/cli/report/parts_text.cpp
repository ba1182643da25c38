#include "cli/report/parts_text.h"

#include <algorithm>
#include <cmath>

namespace rubato::cli {
namespace {

using analyse::Figure;
using analyse::Part;
using analyse::Parts;
using analyse::SourceFacts;
using analyse::SpanEnergy;
using analyse::SplitEnergy;

// Of a long list the first and the last say most.
constexpr std::size_t kAtEachEnd = 5;
constexpr std::size_t kColumnWidth = 21;

// A column of energies: one source, or all GPUs together.
struct Column {
  std::string head;
  std::vector<std::size_t> sources;
};

struct Columns {
  std::vector<Column> shown;
  std::size_t left_out = 0;
};

// GPUs first, then what no other source holds; what finds no room is in the JSON.
Columns columns_of(const analyse::Summary& summary, std::size_t width, std::size_t taken) {
  const std::vector<SourceFacts>& sources = summary.parts.sources;
  Columns columns;
  Column gpus;
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (sources[i].scope == Scope::gpu) gpus.sources.push_back(i);
  if (!gpus.sources.empty()) {
    gpus.head = gpus.sources.size() == 1 ? sources[gpus.sources[0]].name : cat(gpus.sources.size(), " GPUs");
    columns.shown.push_back(gpus);
  }
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (sources[i].scope != Scope::gpu) others.push_back(i);
  std::stable_partition(others.begin(), others.end(),
                        [&](std::size_t i) { return !summary.scopes.rows[i].inside; });
  const std::size_t room = width > taken ? (width - taken) / kColumnWidth : 0;
  for (const std::size_t i : others)
    if (columns.shown.size() < std::max<std::size_t>(room, 1))
      columns.shown.push_back({cut(sources[i].name, kColumnWidth - 2), {i}});
    else
      ++columns.left_out;
  return columns;
}

// Of all sources of a column; absent where one of them is.
template <class Energies, class Get>
std::optional<Figure> together(const Column& column, const Energies& energies, Get get) {
  std::optional<Figure> sum;
  for (const std::size_t s : column.sources) {
    const std::optional<Figure>& one = get(energies[s]);
    if (!one) return std::nullopt;
    add(sum, *one);
  }
  return sum;
}

std::string short_text(const Figure& f) {
  return cat(f.apportioned ? "~" : "", text_of(f.energy));
}

std::string cell(const std::optional<Figure>& f) {
  if (!f) return "-";
  if (!(f->energy > Joules(0))) return short_text(*f);
  // A band wider than its figure says more in joules.
  return cat(short_text(*f), " ± ",
             f->band_sampling > f->energy ? report::text_of(f->band_sampling)
                                          : percent(f->band_sampling / f->energy));
}

// What was measured and what was apportioned stay apart.
std::string cell(const Column& column, const std::vector<SplitEnergy>& energies) {
  if (energies.empty()) return "-";
  std::string text;
  std::optional<Figure> only;
  for (const auto part : {&SplitEnergy::measured, &SplitEnergy::apportioned}) {
    std::optional<Figure> sum;
    for (const std::size_t s : column.sources)
      if (energies[s].*part) add(sum, *(energies[s].*part));
    if (!sum) continue;
    only = text.empty() ? sum : std::nullopt;
    text += cat(text.empty() ? "" : " + ", short_text(*sum));
  }
  if (only) return cell(only);
  return text.empty() ? "-" : text;
}

bool any_apportioned(const std::vector<SpanEnergy>& spans) {
  return std::ranges::any_of(spans, [](const SpanEnergy& s) {
    return std::ranges::any_of(s.energy, [](const auto& f) { return f && f->apportioned; });
  });
}

// Of parts or phases.
template <class Rows>
bool any_split(const Rows& rows) {
  return std::ranges::any_of(rows, [](const auto& row) {
    return std::ranges::any_of(row.energy, [](const SplitEnergy& e) { return e.apportioned.has_value(); });
  });
}

std::string seconds(double value) {
  return text_of(Seconds(value));
}

class PartsText {
 public:
  PartsText(Page& page, const record::RunRecord& run, const analyse::Summary& summary)
      : page_(page), run_(run), summary_(summary), parts_(summary.parts) {}

  void write() {
    hooks();
    spans("Epochs", "epoch", parts_.epochs);
    iterations();
    phases();
    spans("Windows of the program", "window", parts_.windows);
    sum();
  }

 private:
  void hooks() {
    if (summary_.timeline.hooks.empty()) return;
    page_.gap();
    std::string names;
    for (const auto& hook : summary_.timeline.hooks) names += cat(names.empty() ? "" : ", ", hook.text);
    page_.row("hooks", names);
  }

  [[nodiscard]] std::string calibrations() const {
    constexpr std::size_t kNamed = 6;
    std::string text;
    for (std::size_t i = 0; i < std::min(kNamed, parts_.sources.size()); ++i) {
      const analyse::SourceFacts& source = parts_.sources[i];
      text += cat(text.empty() ? "" : ", ", source.name, " ", percent(source.calibration_band));
      if (source.calibration_floor > Watts(0))
        text += cat(" and ", number(source.calibration_floor.value(), 1), " W");
      text += cat(" (", name_of(source.kind), ")");
    }
    return parts_.sources.size() > kNamed ? text + ", …" : text;
  }

  // Each thing is explained once, below the first table that needs it.
  void note(const Columns& columns, bool apportioned) {
    std::string text;
    const auto say_once = [&text](bool& said, const std::string& sentence) {
      if (!said) text += cat(text.empty() ? "" : " ", sentence);
      said = true;
    };
    if (!columns.shown.empty())
      say_once(bands_said_, cat("± is sampling; calibration besides: ", calibrations(), "."));
    if (apportioned) say_once(apportioned_said_, cat("~ is apportioned: ", analyse::kApportionModel, "."));
    if (columns.left_out > 0)
      say_once(rest_said_, cat(columns.left_out, columns.left_out == 1 ? " more source" : " more sources",
                               ": rubato show ", run_.info.run_id, " --json"));
    if (!text.empty()) page_.say(text, Ink::faint);
  }

  void spans(const std::string& title, const char* name, const std::vector<SpanEnergy>& all) {
    if (all.empty()) return;
    const Columns columns = columns_of(summary_, page_.width(), 42);
    page_.heading(cat(title, " (", all.size(), ")"));
    std::vector<Table::Column> heads = {{name}, {"time", true}, {"iterations", true}, {"each", true}};
    for (const Column& c : columns.shown) heads.push_back({c.head, true});
    Table table(heads);
    const bool numbered = all.front().span.kind == analyse::SpanKind::epoch;
    bool cut_short = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all.size() > 2 * kAtEachEnd + 1 && i == kAtEachEnd) {
        i = all.size() - kAtEachEnd;
        std::vector<std::string> rest(heads.size());
        rest[0] = cat("… ", all.size() - 2 * kAtEachEnd, " more");
        table.add(rest);
      }
      const SpanEnergy& s = all[i];
      cut_short = cut_short || s.span.cut_short;
      std::vector<std::string> row = {
          cat(numbered ? cat(s.span.id) : cut(s.span.name, 18), s.span.cut_short ? " (cut short)" : ""),
          text_of(s.span.duration()), cat(s.iterations), s.iteration_time ? text_of(*s.iteration_time) : "-"};
      for (const Column& c : columns.shown)
        row.push_back(cell(together(
            c, s.energy, [](const auto& f) -> const auto& { return f; })));
      table.add(std::move(row));
    }
    page_.table(table);
    note(columns, any_apportioned(all));
    if (cut_short)
      page_.say("Cut short: its end was not seen; it ends where the next began, or with the samples.",
                Ink::faint);
  }

  void iterations() {
    if (!parts_.iterations) return;
    const analyse::IterationSummary& all = *parts_.iterations;
    page_.heading(cat("Iterations (", all.count, ")"));
    const auto& steps = summary_.timeline.steps_per_iteration;
    page_.row("time", cat(seconds(all.seconds.mean), " each, median ", seconds(all.seconds.median),
                          ", nine of ten from ", seconds(all.p05), " to ", seconds(all.p95),
                          steps ? cat("; each holds ", *steps, " training steps") : ""));
    constexpr std::size_t kSources = 8;
    Table table({{"energy each"}, {"mean", true}, {"median", true}, {"scatter", true}, {"measured over"}});
    for (std::size_t s = 0; s < std::min(kSources, all.energy.size()); ++s)
      table.add(energy_row(s, all.energy[s]));
    if (all.energy.empty()) return;
    page_.table(table);
    if (all.energy.size() > kSources)
      page_.line(
          cat("  … ", all.energy.size() - kSources, " more: rubato show ", run_.info.run_id, " --json"));
    note(columns_of(summary_, page_.width(), 36),
         std::ranges::any_of(all.energy, [](const auto& e) { return e.apportioned; }));
  }

  [[nodiscard]] std::vector<std::string> energy_row(std::size_t source,
                                                    const analyse::IterationEnergy& e) const {
    const std::string name = cut(parts_.sources[source].name, 30);
    if (!e.joules) return {name, "-", "-", "-", e.why_not};
    const std::string mean = cat(e.apportioned ? "~" : "", text_of(Joules(e.joules->mean)), " ± ",
                                 percent(e.joules->mean > 0 ? e.band_sampling / e.joules->mean : 0.0));
    if (e.apportioned) return {name, mean, "-", "-", "apportioned: too few in a row to measure"};
    return {name, mean, text_of(Joules(e.joules->median)),
            e.groups > 1 && e.joules->mean > 0 ? percent(e.joules->deviation / e.joules->mean) : "-",
            cat(e.groups, e.groups == 1 ? " group of " : " groups of ", fixed(e.iterations_per_group, 0),
                e.kind == Kind::measured ? "" : cat(" (", name_of(e.kind), ")"))};
  }

  void phases() {
    if (parts_.phases.empty()) return;
    const Columns columns = columns_of(summary_, page_.width(), 36);
    page_.heading("Phases (time of the program; a GPU may run later what they launch)");
    std::vector<Table::Column> heads = {{"phase"}, {"times", true}, {"time", true}};
    for (const Column& c : columns.shown) heads.push_back({c.head, true});
    Table table(heads);
    for (const analyse::PhaseEnergy& phase : parts_.phases) {
      std::vector<std::string> row = {phase.name, cat(phase.times), text_of(phase.time)};
      for (const Column& c : columns.shown) row.push_back(cell(c, phase.energy));
      table.add(std::move(row));
    }
    page_.table(table);
    note(columns, any_split(parts_.phases));
  }

  void sum() {
    // One part is the run itself, which stands above.
    if (parts_.rows.size() < 2) return;
    const Columns columns = columns_of(summary_, page_.width(), 36);
    page_.heading("What the run was made of");
    std::vector<Table::Column> heads = {{"part"}, {"times", true}, {"time", true}};
    for (const Column& c : columns.shown) heads.push_back({c.head, true});
    Table table(heads);
    for (const Part& part : parts_.rows) {
      std::vector<std::string> row = {part.label, cat(part.times), text_of(part.time)};
      for (const Column& c : columns.shown) row.push_back(cell(c, part.energy));
      table.add(std::move(row));
    }
    page_.table(table);
    note(columns, any_split(parts_.rows));
    for (std::size_t s = 0; s < parts_.balance.size(); ++s) balance(s);
  }

  void balance(std::size_t s) {
    const analyse::Balance& b = parts_.balance[s];
    if (!b.run || !b.residual) return;
    const auto amount = [&](const std::optional<Joules>& part) { return part ? text_of(*part) : ""; };
    std::string parts = amount(b.measured);
    if (b.apportioned) parts += cat(parts.empty() ? "" : " + ", "~", amount(b.apportioned));
    const double band = *b.run > Joules(0) ? b.band_sampling / *b.run : 0.0;
    std::string rest = ".";
    // Beyond what ten digits of arithmetic leave.
    if (abs(*b.residual) > 1e-9 * abs(*b.run))
      rest = cat(", ", report::band_text(abs(*b.residual), *b.run),
                 *b.residual < Joules(0) ? " too much." : " left over.");
    page_.say(cat(parts_.sources[s].name, ": ", parts, " = ", text_of(*b.run), " ± ", percent(band),
                  " of the run", rest),
              Ink::faint);
  }

  Page& page_;
  const record::RunRecord& run_;
  const analyse::Summary& summary_;
  const Parts& parts_;
  bool bands_said_ = false;
  bool apportioned_said_ = false;
  bool rest_said_ = false;
};

}  // namespace

std::string with_bands(Joules energy, Joules sampling, Joules calibration) {
  if (!(energy > Joules(0))) return text_of(energy);
  return cat(text_of(energy), " ± ", percent(sampling / energy), " sampling ± ",
             percent(calibration / energy), " calibration");
}

std::string kind_text(const Figure& figure) {
  if (figure.apportioned && figure.kind != Kind::apportioned)
    return cat(name_of(figure.kind), ", split by time");
  return std::string(name_of(figure.kind));
}

void parts_text(Page& page, const record::RunRecord& run, const analyse::Summary& summary) {
  scopes_text(page, summary);
  PartsText(page, run, summary).write();
  kernels_text(page, summary);
}

}  // namespace rubato::cli
