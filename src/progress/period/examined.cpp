#include "progress/period/examined.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "progress/period/confidence.h"
#include "progress/period/counted_lengths.h"
#include "progress/period/length_levels.h"
#include "progress/period/steadiness.h"

namespace rubato::progress {

namespace {

constexpr std::size_t kLatest = 25;  // iterations "the latest period" is the median of

/// The look goes back a limited time, and passes over what it cannot explain: there stand the iterations
/// followed on the way.
double whole_trace_median(const Look& look, std::vector<TimedLength> lengths, const Trail& trail) {
  const double known = typical_length(lengths);
  std::vector<Cycle> seen;
  for (const auto& regime : look.regimes) seen.push_back({regime.begin_s, regime.end_s});
  const auto others =
      stated_lengths(trail.outside(seen, known), known, look.span.update_s, look.span.reading_s);
  if (others.size() + trail.older().count() == 0) return known;
  lengths.insert(lengths.end(), others.begin(), others.end());
  std::sort(lengths.begin(), lengths.end(),
            [](const TimedLength& a, const TimedLength& b) { return a.at_s < b.at_s; });
  if (trail.older().count() == 0) return typical_length(lengths);
  std::vector<double> all;
  all.reserve(lengths.size());
  for (const TimedLength& length : lengths) all.push_back(length.length_s);
  return trail.older().median_with(all);
}

}  // namespace

double latest_length(const std::vector<TimedLength>& lengths) {
  const auto last = static_cast<std::ptrdiff_t>(std::min(lengths.size(), kLatest));
  return typical_length({lengths.end() - last, lengths.end()});
}

Examined examine(const Samples& samples, const Span& span, const Recall& recall, const Trail& trail) {
  Examined out;
  out.look = look(samples, span, recall);
  auto lengths = all_lengths(out.look);
  IterationEstimate& said = out.statement;
  said.at = *samples.origin() + Seconds(span.end_s);
  if (lengths.empty()) {
    const double seconds = span.end_s - span.begin_s;
    said.confidence = confidence_in_none(out.look, seconds);
    said.why = out.look.unresolved_s
                   ? cat("of ", number(seconds, 0), " s of telemetry the likeliest period is ",
                         number(*out.look.unresolved_s, 2), " s, but the readings do not tell it from others")
                   : cat("nothing repeats in ", number(seconds, 0),
                         " s of telemetry: the likest candidate is alike by ", number(out.look.likest, 2));
    return out;
  }
  out.latest_s = latest_length(lengths);
  const double whole_s = whole_trace_median(out.look, std::move(lengths), trail);
  const Evidence evidence = evidence_of(out.look, whole_s);
  said.periodic = true;
  said.period = Seconds(whole_s);
  said.relation = evidence.relation;
  said.confidence = confidence_of(evidence);
  said.why = cat("one period later the trace is alike by ",
                 number(out.look.regimes.front().finding.likeness.median, 2), " over ",
                 number(evidence.cycles, 1), " cycles");
  std::vector<Cycle> cycles;
  for (const auto& regime : out.look.regimes)
    cycles.insert(cycles.end(), regime.followed.cycles.begin(), regime.followed.cycles.end());
  said.half_width = half_width_of(cycles, out.look.span.update_s);
  said.drift_per_minute = drift_of(cycles);
  return out;
}

}  // namespace rubato::progress
