#include "cli/report/period_report.h"

#include <algorithm>
#include <cmath>

#include "progress/arbiter/telemetry_rate.h"

namespace rubato::cli {
namespace {

using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

constexpr std::size_t kMostPauses = 20;
constexpr double kLeastPause = 0.25;  // of the median iteration

struct Pause {
  TimePoint begin;
  TimePoint end;
  [[nodiscard]] Seconds length() const { return end - begin; }
};

Seconds median_of(const std::vector<Iteration>& iterations) {
  std::vector<Seconds> lengths;
  lengths.reserve(iterations.size());
  for (const Iteration& iteration : iterations) lengths.push_back(iteration.duration());
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

/// What lies between followed iterations, where it is no mere inaccuracy of their ends.
std::vector<Pause> pauses_of(const std::vector<Iteration>& iterations) {
  std::vector<Pause> pauses;
  if (iterations.empty()) return pauses;
  const Seconds least = median_of(iterations) * kLeastPause;
  for (std::size_t i = 1; i < iterations.size(); ++i) {
    const Pause between{iterations[i - 1].end, iterations[i].begin};
    if (between.length() > least) pauses.push_back(between);
  }
  return pauses;
}

std::string why_undecided(const PeriodFinding& finding) {
  const auto& notes = finding.summary.notes;
  if (finding.summary.points < 2) return "there are fewer than two usable points";
  return notes.empty() ? "the trace is too short for a decision" : notes.front();
}

Value seconds(const std::optional<Seconds>& value) {
  return value ? Value(Amount{value->value(), "s", 3}) : Value(Missing{});
}
Value fraction(const std::optional<double>& value) {
  return value ? Value(Amount{*value, "", 3}) : Value(Missing{});
}
Value words(const std::vector<std::string>& all) {
  Array out;
  for (const std::string& word : all) out.emplace_back(word);
  return out;
}

Value rate_json(const std::optional<ProgressRate>& rate) {
  if (!rate) return Missing{};
  return Object{{"kind", name_of(rate->kind)},
                {"per_second", Amount{rate->per_second, ""}},
                {"half_width_fraction", fraction(rate->half_width)},
                {"confidence", Amount{rate->confidence, ""}},
                {"why", rate->why}};
}

Value followed_json(const PeriodFinding& finding) {
  if (finding.iterations.empty()) return Missing{};
  Array pauses;
  Seconds paused;
  const std::vector<Pause> all = pauses_of(finding.iterations);
  for (const Pause& pause : all) {
    paused += pause.length();
    if (pauses.size() < kMostPauses)
      pauses.emplace_back(Object{{"begin_s", seconds(pause.begin - finding.begin)},
                                 {"end_s", seconds(pause.end - finding.begin)}});
  }
  return Object{{"iterations", finding.iterations.size()},
                {"pauses", all.size()},
                {"paused_s", seconds(paused)},
                {"first_pauses", std::move(pauses)}};
}

Value trace_json(const PeriodFinding& finding) {
  return Object{
      {"length_s", seconds(finding.length)},       {"points", finding.summary.points},
      {"dropped_points", finding.summary.dropped}, {"dropped_cells", finding.dropped_cells},
      {"dropped_rows", finding.dropped_rows},      {"first_drops", words(finding.first_drops)},
      {"columns", words(finding.columns)},         {"ignored_columns", words(finding.ignored_columns)}};
}

std::string counted(std::size_t count, std::string_view thing) {
  return cat(count, " ", thing, count == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += cat(out.empty() ? "" : ", ", part);
  return out;
}

std::string headline(const PeriodFinding& finding) {
  const auto& verdict = finding.summary.verdict;
  if (!verdict) return cat("Undecided: ", why_undecided(finding), ".");
  const std::string sure = cat("confidence ", fixed(verdict->confidence, 2));
  if (!verdict->periodic || !verdict->period)
    return cat("Nothing here repeats as iterations do (", sure, ").");
  const std::string period = text_of(*verdict->period);
  const std::string width =
      verdict->half_width ? cat(" ± ", fixed(100 * *verdict->half_width, 1), " %") : std::string();
  switch (verdict->relation) {
    case PeriodRelation::exact:
      return cat("An iteration takes ", period, width, " (", sure, ").");
    case PeriodRelation::multiple:
      return cat("What repeats takes ", period, width, ", a whole number of iterations (", sure, ").");
    case PeriodRelation::beat:
      return cat("What repeats takes ", period, width, ", the beat between iteration and sensor (", sure,
                 ").");
  }
  return {};
}

class PeriodText {
 public:
  PeriodText(Page& page, const PeriodFinding& finding) : page_(page), finding_(finding) {}

  void say() {
    const auto& verdict = finding_.summary.verdict;
    std::string title = cat(finding_.source, " · ", counted(finding_.summary.points, "point"));
    if (finding_.length) title += cat(" over ", text_of(*finding_.length));
    page_.line(title, Ink::bold);
    page_.gap();
    page_.say(headline(finding_), Ink::bold);
    if (verdict && !verdict->why.empty()) page_.say(sentence(verdict->why));
    page_.gap();
    page_.row("detector", finding_.detector);
    if (!finding_.columns.empty()) page_.row("from", joined(finding_.columns));
    decided();
    followed();
    rate();
    dropped();
    for (const std::string& note : finding_.summary.notes)
      if (verdict || note != why_undecided(finding_)) page_.row("note", note);
  }

 private:
  static std::string sentence(std::string text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
      text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text.ends_with('.') ? text : text + ".";
  }

  void decided() {
    const auto& s = finding_.summary;
    if (s.decided_after)
      page_.row("decided",
                cat("after ", text_of(*s.decided_after), s.first ? cat(" on ", text_of(*s.first)) : ""));
    if (s.last && s.first && text_of(*s.last) != text_of(*s.first)) page_.row("latest", text_of(*s.last));
    if (s.verdict && s.verdict->drift_per_minute)
      page_.row("drift", cat(fixed(100 * *s.verdict->drift_per_minute, 2), " % a minute"));
  }

  void followed() {
    if (finding_.iterations.empty()) return;
    const std::vector<Pause> pauses = pauses_of(finding_.iterations);
    std::string line = counted(finding_.iterations.size(), "iteration");
    if (!pauses.empty()) {
      Seconds all;
      for (const Pause& pause : pauses) all += pause.length();
      line += cat(", with ", counted(pauses.size(), "pause"), " of ", text_of(all), " between them");
    }
    page_.row("followed", line);
  }

  void rate() {
    if (!finding_.rate) return;
    const ProgressRate& r = *finding_.rate;
    const std::string_view unit = r.kind == RateKind::instructions ? "instructions a second"
                                  : r.kind == RateKind::kernels    ? "kernels a second"
                                                                   : "seconds of work a second";
    page_.row("progress", cat(report::fixed(r.per_second, 2), " ", unit,
                              r.half_width ? cat(" ± ", fixed(100 * *r.half_width, 1), " %") : "",
                              " (confidence ", fixed(r.confidence, 2), "): ", r.why));
  }

  void dropped() {
    std::vector<std::string> parts;
    if (finding_.summary.dropped > 0)
      parts.push_back(cat(counted(finding_.summary.dropped, "point"), " out of order or range"));
    if (finding_.dropped_rows > 0) parts.push_back(counted(finding_.dropped_rows, "line"));
    if (finding_.dropped_cells > 0) parts.push_back(counted(finding_.dropped_cells, "value"));
    if (!parts.empty()) page_.row("dropped", joined(parts), Ink::bad);
    for (const std::string& drop : finding_.first_drops) page_.row("", drop);
    if (!finding_.ignored_columns.empty())
      page_.row("ignored", cat("columns ", joined(finding_.ignored_columns)));
  }

  Page& page_;
  const PeriodFinding& finding_;
};

}  // namespace

PeriodFinding find_period(progress::PeriodDetector& detector,
                          const std::vector<progress::TelemetryPoint>& points) {
  PeriodFinding finding;
  finding.detector = detector.name();
  for (const progress::TelemetryPoint& point : points) {
    detector.add(point);
    for (Iteration& iteration : detector.take_iterations()) finding.iterations.push_back(iteration);
  }
  finding.summary = detector.summary();
  if (!points.empty()) finding.begin = points.front().at;
  const auto [first, last] = std::ranges::minmax_element(points, {}, &progress::TelemetryPoint::at);
  if (first != last) finding.length = last->at - first->at;
  if (!finding.summary.verdict || !finding.summary.verdict->periodic)
    finding.rate = progress::telemetry_rate(points);
  return finding;
}

void set_period(Object& out, const PeriodFinding& finding) {
  const auto& s = finding.summary;
  const auto& verdict = s.verdict;
  out.set("source", finding.source);
  out.set("detector", finding.detector);
  out.set("periodic", verdict ? Value(verdict->periodic) : Value(Missing{}));
  out.set("why", verdict ? verdict->why : why_undecided(finding));
  out.set("period_s", seconds(verdict ? verdict->period : std::nullopt));
  out.set("confidence", verdict ? Value(Amount{verdict->confidence, "", 3}) : Value(Missing{}));
  out.set("decided_after_s", seconds(s.decided_after));
  out.set("period_first_s", seconds(s.first));
  out.set("period_last_s", seconds(s.last));
  out.set("relation", verdict && verdict->periodic ? Value(name_of(verdict->relation)) : Value(Missing{}));
  out.set("half_width_fraction", fraction(verdict ? verdict->half_width : std::nullopt));
  out.set("drift_per_minute_fraction", fraction(verdict ? verdict->drift_per_minute : std::nullopt));
  out.set("followed", followed_json(finding));
  out.set("progress_rate", rate_json(finding.rate));
  out.set("trace", trace_json(finding));
  out.set("notes", words(s.notes));
}

void say_period(Page& page, const PeriodFinding& finding) {
  PeriodText(page, finding).say();
}

}  // namespace rubato::cli
