#include "cli/report/parts_text.h"

namespace rubato::cli {
namespace {

// Of the time, without readings: less changes no figure that is shown.
constexpr double kWorthSaying = 0.01;

using analyse::ScopeRow;
using analyse::SourceFacts;

class ScopesText {
 public:
  ScopesText(Page& page, const analyse::Summary& summary) : page_(page), summary_(summary) {}

  void write() {
    const auto& sources = summary_.parts.sources;
    bool others = false;
    for (const SourceFacts& s : sources) others = others || s.scope != Scope::gpu;
    if (others) {
      page_.heading("What was measured, and what is inside what (never added)");
      for (const ScopeRow& row : summary_.scopes.rows)
        if (!row.inside) tree(row, 0);
      for (const std::string& note : summary_.scopes.notes) page_.say(note + ".", Ink::faint);
      host();
    }
    idle();
  }

 private:
  void tree(const ScopeRow& row, std::size_t depth) {
    const SourceFacts& facts = summary_.parts.sources[row.source];
    const std::string indent(2 + 2 * depth, ' ');
    std::string text =
        cat(facts.name, " (", name_of(facts.scope), facts.place.empty() ? "" : ", " + facts.place, "): ");
    if (row.energy)
      text += cat(with_bands(row.energy->energy, row.energy->band_sampling, row.energy->band_calibration),
                  ", ", text_of(row.energy->energy / row.over), ", ", kind_text(*row.energy));
    else
      text += "unknown: no readings";
    if (row.energy && row.energy->unseen > kWorthSaying * row.over)
      text += cat(", ", text_of(row.energy->unseen), " of it without readings, estimated");
    if (facts.lag) text += cat("; ", text_of(*facts.lag), " behind the GPUs (", facts.lag_quality, ")");
    page_.say_after(indent, text);
    // Of the GPU itself its own part of the report says it.
    if (facts.scope != Scope::gpu && !facts.detail.empty())
      page_.say_after(indent + "  ", facts.detail + ".", Ink::faint);
    for (const ScopeRow& other : summary_.scopes.rows)
      if (other.inside == row.source) tree(other, depth + 1);
    if (!row.rest) return;
    const std::string deeper = indent + "  ";
    if (row.rest->energy)
      page_.say_after(deeper, cat("not accounted for: ", text_of(*row.rest->energy), " ± ",
                                  report::band_text(row.rest->band, *row.rest->energy), " over ",
                                  text_of(row.rest->over)));
    else
      page_.say_after(deeper, cat("not accounted for: not told, ", row.rest->why_not), Ink::faint);
  }

  void host() {
    const analyse::HostWatts& host = summary_.scopes.host;
    if (host.value)
      page_.say(cat("Host: ", text_of(*host.value), " ± ", text_of(host.band), " (", host.source, "; ",
                    host.quality, ")."));
    else
      page_.say(cat("Host: not known, ", host.quality, "."), Ink::faint);
  }

  // Said only where it was measured: in most runs nothing stood still, and the JSON says so.
  void idle() {
    for (const analyse::IdleShare& share : summary_.scopes.idle) {
      if (!share.share) continue;
      page_.gap();
      page_.say(cat(summary_.parts.sources[share.source].name, " draws ", text_of(*share.idle),
                    " while it does nothing (", text_of(share.measured_over),
                    " of this run): ", percent(*share.share), " ± ", percent(share.band),
                    " of its energy would have been drawn idle."));
    }
  }

  Page& page_;
  const analyse::Summary& summary_;
};

}  // namespace

void scopes_text(Page& page, const analyse::Summary& summary) {
  ScopesText(page, summary).write();
}

void kernels_text(Page& page, const analyse::Summary& summary) {
  constexpr std::size_t kShown = 8;
  for (const analyse::KernelSummary& k : summary.kernels) {
    page.heading(cat("Kernels of ", k.gpu, " (", name_of(k.kind), ")"));
    page.say(cat(k.kernels, " recorded in ", text_of(k.recorded), ", ", percent(k.busy), " of it busy",
                 k.lost > 0 ? cat("; ", k.lost, " were lost") : "", "."));
    for (const auto* list : {&k.names, &k.layers}) {
      if (list->empty()) continue;
      Table table(
          {{"share", true}, {"energy", true}, {"times", true}, {list == &k.names ? "kernel" : "layer"}});
      for (std::size_t i = 0; i < std::min(kShown, list->size()); ++i) {
        const analyse::KernelShare& s = (*list)[i];
        table.add({percent(s.share), s.energy ? cat("~", text_of(*s.energy)) : "-", cat(s.times), s.name});
      }
      page.table(table);
      if (list->size() > kShown) page.line(cat("  … ", list->size() - kShown, " more in the JSON"));
    }
    page.say(cat("Energy is ", k.model, "."), Ink::faint);
  }
}

}  // namespace rubato::cli
