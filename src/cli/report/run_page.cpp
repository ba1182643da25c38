#include "cli/report/run_page.h"

#include <algorithm>

#include "base/text.h"
#include "cli/report/compare_report.h"
#include "cli/report/headline.h"
#include "cli/report/page_series.h"
#include "cli/report/run_report.h"
#include "cli/report/worth_knowing.h"
#include "report/layout.h"

namespace rubato::cli {
namespace {

using report::Amount;
using report::Array;
using report::HtmlPage;
using report::Missing;
using report::Object;
using report::PackedSeries;
using report::Value;

// A window's title is one line; the page has the whole name.
constexpr std::size_t kTitle = 80;
constexpr std::size_t kMailed = 14'000'000;  // bytes of packed series

Value tone_of(const std::optional<report::Ink>& ink) {
  if (!ink) return Missing{};
  switch (*ink) {
    case report::Ink::bold:
      return "bold";
    case report::Ink::faint:
      return "faint";
    case report::Ink::good:
      return "good";
    case report::Ink::bad:
      return "bad";
  }
  return Missing{};
}

Array headline_json(const analyse::Side& side) {
  Array out;
  for (const Sentence& sentence : headline_of(side.run, side.summary, side.running))
    out.emplace_back(Object{{"text", sentence.text}, {"tone", tone_of(sentence.ink)}});
  return out;
}

Array events_json(const analyse::Side& side) {
  Array out;
  for (const Event& event : worth_knowing(side.run, side.summary))
    out.emplace_back(
        Object{{"at_s", Amount{(event.at - side.run.info.begin).value(), "s"}}, {"what", event.what}});
  return out;
}

// Every GPU of a job takes part in the same blocks: those of the first tell of all.
Array blocks_json(const record::RunRecord& run) {
  Array out;
  for (const record::Block& block : run.blocks) {
    if (block.gpu != run.blocks.front().gpu) continue;
    out.emplace_back(Object{{"role", name_of(block.role)},
                            {"begin_s", Amount{(block.begin - run.info.begin).value(), "s"}},
                            {"end_s", Amount{(block.end - run.info.begin).value(), "s"}},
                            {"setting", setting_json(block.setting)}});
  }
  return out;
}

Array heads_of(const std::vector<PackedSeries>& all) {
  Array out;
  for (const PackedSeries& series : all) out.emplace_back(series.head);
  return out;
}

Status write_page(report::Sink& to, const std::string& title, const Object& document,
                  const std::vector<PackedSeries>& series) {
  HtmlPage page(to);
  if (const Status begun = page.begin(report::cut(title, kTitle), report::render_json_line(document)); !begun)
    return begun;
  for (const PackedSeries& one : series)
    if (const Status written = page.series(one); !written) return written;
  return page.end();
}

struct Packed {
  PageResolution resolution;
  std::vector<PackedSeries> series;
};

struct Shown {
  const record::RunRecord* run;
  std::string prefix;
};

// As exact as fits into a file that can be mailed.
Result<Packed> packed(const std::vector<Shown>& all) {
  std::size_t readings = 0;
  for (const Shown& shown : all) readings += readings_of(*shown.run);
  PageResolution resolution = resolution_for(readings);
  for (;;) {
    Packed out{resolution, {}};
    std::size_t bytes = 0;
    for (const Shown& shown : all) {
      auto part = page_series(*shown.run, resolution, shown.prefix, static_cast<int>(out.series.size()));
      if (!part) return fail(part.error());
      for (PackedSeries& series : *part) {
        bytes += series.base64.size();
        out.series.push_back(std::move(series));
      }
    }
    const auto next = coarser(resolution);
    if (bytes <= kMailed || !next) return out;
    resolution = *next;
  }
}

}  // namespace

Status write_run_page(const analyse::Side& side, const analyse::Factors& factors, report::Sink& to) {
  const auto made = packed({{&side.run, ""}});
  if (!made) return fail(made.error());
  const record::RunInfo& info = side.run.info;
  return write_page(to, cat("rubato ", info.mode, " ", info.run_id),
                    Object{{"schema", "rubato.page/1"},
                           {"rubato_version", info.rubato_version},
                           {"headline", headline_json(side)},
                           {"report", run_report_json(side.run, side.summary, side.running, factors)},
                           {"events", events_json(side)},
                           {"blocks", blocks_json(side.run)},
                           {"resolution", made->resolution.sentence(info.run_id)},
                           {"series", heads_of(made->series)}},
                    made->series);
}

Status write_compare_page(const analyse::Side& a, const analyse::Side& b,
                          const analyse::Comparison& comparison, report::Sink& to) {
  const auto made = packed({{&a.run, "A "}, {&b.run, "B "}});
  if (!made) return fail(made.error());
  const Seconds length =
      std::max(a.summary.duration.value_or(Seconds(0)), b.summary.duration.value_or(Seconds(0)));
  return write_page(to, cat("rubato compare ", a.run.info.run_id, " ", b.run.info.run_id),
                    Object{{"schema", "rubato.page/1"},
                           {"rubato_version", b.run.info.rubato_version},
                           {"report", compare_json(a, b, comparison)},
                           {"length_s", Amount{length.value(), "s"}},
                           {"blocks", Array{}},
                           {"series", heads_of(made->series)}},
                    made->series);
}

}  // namespace rubato::cli
