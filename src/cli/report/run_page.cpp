#include "cli/report/run_page.h"

#include <algorithm>

#include "base/text.h"
#include "cli/report/compare_report.h"
#include "cli/report/headline.h"
#include "cli/report/page_series.h"
#include "cli/report/run_report.h"
#include "cli/report/search_report.h"
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
// Fewer readings are unpacked as soon as an outline of them would be.
constexpr std::size_t kOutlined = 20'000;
constexpr std::size_t kExpectations = 12;
constexpr std::size_t kPieces = 1024;  // of an outline: about the columns of a chart

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

/// What was expected while the setting was searched for, and what at last: at each of a dozen decisions at
/// most.
Array expected_json(const analyse::Side& side) {
  Array out;
  const auto& search = side.summary.search;
  if (!search || !search->choice) return out;
  const std::size_t choice = *search->choice;
  const std::size_t steps = std::min(choice, kExpectations);
  for (std::size_t i = 0; i <= steps; ++i)
    out.push_back(expectation_json(side.run, steps == 0 ? 0 : i * choice / steps));
  if (const std::size_t last = side.run.expectations.size() - 1; last > choice)
    out.push_back(expectation_json(side.run, last));
  return out;
}

/// Of a page of two runs, where the report itself compares: what the picture of one run's search is made of.
Object search_of(const analyse::Side& side) {
  Object out;
  const Value report = run_report_json(side.run, side.summary, side.running);
  for (const char* key : {"goal", "search", "settings", "savings"})
    if (const Value* value = report.as<Object>()->find(key)) out.set(key, *value);
  out.set("expected", expected_json(side));
  return out;
}

Array heads_of(const std::vector<PackedSeries>& all) {
  Array out;
  for (const PackedSeries& series : all) out.emplace_back(series.head);
  return out;
}

struct Packed {
  PageResolution resolution;
  std::vector<PackedSeries> series;
  std::optional<PackedSeries> outline;
};

Status write_page(report::Sink& to, const std::string& title, Object document, const Packed& packed) {
  HtmlPage page(to);
  document.set("outline", packed.outline ? Value(packed.outline->head)
                                         : Value(Missing{"the samples are there as soon"}));
  document.set("series", heads_of(packed.series));
  if (const Status begun = page.begin(report::cut(title, kTitle), report::render_json_line(document),
                                      packed.outline ? &*packed.outline : nullptr);
      !begun)
    return begun;
  for (const PackedSeries& one : packed.series)
    if (const Status written = page.series(one); !written) return written;
  return page.end();
}

struct Shown {
  const record::RunRecord* run;
  Seconds length;
  std::string prefix;
};

// As exact as fits into a file that can be mailed.
Result<Packed> packed(const std::vector<Shown>& all, const PageProgress& progress = {}) {
  std::size_t readings = 0;
  std::size_t steps = 0;
  Seconds length;
  for (const Shown& shown : all) {
    readings += readings_of(*shown.run);
    length = std::max(length, shown.length);
    steps += steps_of(*shown.run);
  }
  PageResolution resolution = resolution_for(readings);
  for (;;) {
    Packed out{resolution, {}, {}};
    report::SeriesOutline outline(length.value(), kPieces);
    std::size_t done = 0;
    const auto one_done = [&] {
      if (progress) progress(++done, steps);
    };
    std::size_t bytes = 0;
    for (const Shown& shown : all) {
      auto part = page_series(*shown.run, resolution, shown.prefix, static_cast<int>(out.series.size()),
                              readings < kOutlined ? nullptr : &outline, one_done);
      if (!part) return fail(part.error());
      for (PackedSeries& series : *part) {
        bytes += series.base64.size();
        out.series.push_back(std::move(series));
      }
    }
    const auto next = coarser(resolution);
    if (bytes > kMailed && next) {
      resolution = *next;
      continue;
    }
    if (outline.empty()) return out;
    auto drafted = std::move(outline).finish(static_cast<int>(out.series.size()));
    if (!drafted) return fail(drafted.error());
    out.outline = std::move(*drafted);
    return out;
  }
}

}  // namespace

Status write_run_page(const analyse::Side& side, const analyse::Factors& factors, report::Sink& to,
                      const PageProgress& progress) {
  const auto made = packed({{&side.run, side.summary.duration.value_or(Seconds(0)), ""}}, progress);
  if (!made) return fail(made.error());
  const record::RunInfo& info = side.run.info;
  return write_page(to, cat("rubato ", info.mode, " ", info.run_id),
                    Object{{"schema", "rubato.page/1"},
                           {"rubato_version", info.rubato_version},
                           {"headline", headline_json(side)},
                           {"report", run_report_json(side.run, side.summary, side.running, factors)},
                           {"events", events_json(side)},
                           {"blocks", blocks_json(side.run)},
                           {"expected", expected_json(side)},
                           {"resolution", made->resolution.sentence(info.run_id)}},
                    *made);
}

Status write_compare_page(const analyse::Side& a, const analyse::Side& b,
                          const analyse::Comparison& comparison, report::Sink& to) {
  const Seconds length_a = a.summary.duration.value_or(Seconds(0));
  const Seconds length_b = b.summary.duration.value_or(Seconds(0));
  const auto made = packed({{&a.run, length_a, "A "}, {&b.run, length_b, "B "}});
  if (!made) return fail(made.error());
  return write_page(to, cat("rubato compare ", a.run.info.run_id, " ", b.run.info.run_id),
                    Object{{"schema", "rubato.page/1"},
                           {"rubato_version", b.run.info.rubato_version},
                           {"report", compare_json(a, b, comparison)},
                           {"searches", Array{search_of(a), search_of(b)}},
                           {"length_s", Amount{std::max(length_a, length_b).value(), "s"}},
                           {"blocks", Array{}}},
                    *made);
}

}  // namespace rubato::cli
