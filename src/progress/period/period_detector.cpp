#include "progress/period/period_detector.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text.h"
#include "progress/period/confidence.h"
#include "progress/period/decision.h"
#include "progress/period/length_levels.h"
#include "progress/period/look.h"
#include "progress/period/recall.h"
#include "progress/period/samples.h"
#include "progress/period/steadiness.h"
#include "progress/period/trail.h"

namespace rubato::progress {

namespace {

constexpr double kFirstLookSeconds = 4.05;  // three looks that agree may decide from 5.1 s on
constexpr double kLookSoon = 1.12;  // the next look, times the length of the trace: 5.1, 5.7, 6.4, 7.1, 8.0 s
constexpr double kHurrySeconds = 9;  // from here on, undecided still,
constexpr double kLookAgain = 1.25;
constexpr double kLookAgainDecided = 2;  // and then: between them only the latest iterations are looked at
constexpr double kAdvanceSeconds = 1;    // or so many iterations: those since are followed on
constexpr double kAdvanceCycles = 1;
constexpr double kFarBehind = 24;    // iterations: what came since is looked for anew
constexpr std::size_t kMarks = 6;    // a template is the mean around
constexpr double kStepSeconds = 30;  // or so many iterations, whichever is longer
constexpr double kStepCycles = 24;
constexpr double kStepSpanSeconds = 14;
constexpr double kStepSpanCycles = 16;
constexpr double kLeastTraceSeconds = 10;  // less has no verdict of "none" at its end
constexpr std::size_t kLeastPoints = 24;
constexpr std::size_t kLatest = 25;  // iterations "the latest period" is the median of

class SelfLikenessDetector final : public PeriodDetector {
 public:
  explicit SelfLikenessDetector(const TelemetryFacts& facts) : facts_(facts) {}

  [[nodiscard]] std::string_view name() const override { return "rubato"; }

  void add(const TelemetryPoint& point) override {
    if (!samples_.add(point)) return;
    const double now = samples_.end_s();
    if (now >= next_look_s_) {
      const double again = decided_after_s_      ? kLookAgainDecided
                           : now < kHurrySeconds ? kLookSoon
                                                 : kLookAgain;
      while (next_look_s_ <= now) next_look_s_ *= again;
      if (samples_.used() >= kLeastPoints) {
        auto examined = examine(now);
        recall_.add(now, std::move(examined.look.opinions));
        take_in(std::move(examined));
      }
    } else if (!estimate_ || !estimate_->periodic) {
      return;
    } else if (now >= next_step_s_) {
      step(now);
    } else if (now >= next_advance_s_) {
      advance(now);
    }
  }

  [[nodiscard]] std::optional<IterationEstimate> estimate() const override { return estimate_; }

  [[nodiscard]] std::vector<Iteration> take_iterations() override;

  [[nodiscard]] PeriodSummary summary() const override;

 private:
  struct Examined {
    Look look;
    IterationEstimate statement;  // its period that of the whole trace
    double latest_s = 0;          // median of the last iterations
  };

  [[nodiscard]] Examined examine(double now) const;
  [[nodiscard]] double whole_trace_median(const Look& look, std::vector<TimedLength> lengths) const;
  void take_in(Examined examined);
  void step(double now);
  void advance(double now);
  void collect(const Look& look);
  [[nodiscard]] Span span(double now) const;

  TelemetryFacts facts_;
  Samples samples_;
  double next_look_s_ = kFirstLookSeconds;
  double next_step_s_ = 0;
  double next_advance_s_ = 0;
  std::optional<IterationEstimate> estimate_;
  std::optional<double> first_s_;
  std::optional<double> decided_after_s_;
  std::int64_t next_index_ = 0;
  Trail trail_;
  double followed_s_ = 0;  // length of the iterations on the trail; 0: none
  Guide guide_;
  Decision decision_;
  Recall recall_;
};

Span SelfLikenessDetector::span(double now) const {
  return span_of(samples_, facts_, samples_.begin_s(), now);
}

SelfLikenessDetector::Examined SelfLikenessDetector::examine(double now) const {
  Examined out;
  out.look = look(samples_, span(now), recall_);
  auto lengths = all_lengths(out.look);
  IterationEstimate& said = out.statement;
  said.at = *samples_.origin() + Seconds(now);
  if (lengths.empty()) {
    const double seconds = now - samples_.begin_s();
    said.confidence = confidence_in_none(out.look, seconds);
    said.why = out.look.unresolved_s
                   ? cat("of ", number(seconds, 0), " s of telemetry the likeliest period is ",
                         number(*out.look.unresolved_s, 2), " s, but the readings do not tell it from others")
                   : cat("nothing repeats in ", number(seconds, 0),
                         " s of telemetry: the likest candidate is alike by ", number(out.look.likest, 2));
    return out;
  }
  const auto from_last = static_cast<std::ptrdiff_t>(std::min<std::size_t>(lengths.size(), kLatest));
  out.latest_s = typical_length({lengths.end() - from_last, lengths.end()});
  const double whole_s = whole_trace_median(out.look, std::move(lengths));
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

/// The look goes back a limited time, and passes over what it cannot explain: there stand the iterations
/// followed on the way.
double SelfLikenessDetector::whole_trace_median(const Look& look, std::vector<TimedLength> lengths) const {
  const double known = typical_length(lengths);
  std::vector<Cycle> seen;
  for (const auto& regime : look.regimes) seen.push_back({regime.begin_s, regime.end_s});
  const auto others = timed_lengths(trail_.outside(seen, known), known, look.span.update_s);
  if (others.size() + trail_.older().count() == 0) return known;
  lengths.insert(lengths.end(), others.begin(), others.end());
  std::sort(lengths.begin(), lengths.end(),
            [](const TimedLength& a, const TimedLength& b) { return a.at_s < b.at_s; });
  if (trail_.older().count() == 0) return typical_length(lengths);
  std::vector<double> all;
  all.reserve(lengths.size());
  for (const TimedLength& length : lengths) all.push_back(length.length_s);
  return trail_.older().median_with(all);
}

void SelfLikenessDetector::take_in(Examined examined) {
  const double now = samples_.end_s();
  auto& said = examined.statement;
  if (!decided_after_s_) {
    const auto found = said.periodic ? std::optional(examined.latest_s) : std::nullopt;
    if (!decision_.add(found, said.confidence, now)) return;
  }
  if (!decided_after_s_) decided_after_s_ = now;
  if (said.periodic) {
    if (!first_s_) first_s_ = said.period->value();
    said.period = Seconds(examined.latest_s);
    if (followed_s_ <= 0 || !same_iteration(examined.latest_s / followed_s_)) trail_.start_again();
    collect(examined.look);
    next_step_s_ = now + std::max(kStepSeconds, kStepCycles * examined.latest_s);
  }
  estimate_ = std::move(said);
}

/// Follows the iteration on: the same look, at the latest cycles only.
void SelfLikenessDetector::step(double now) {
  advance(now);
  const double period = estimate_->period->value();
  next_step_s_ = now + std::max(kStepSeconds, kStepCycles * period);
  Span latest = span(now);
  latest.begin_s = std::max(latest.begin_s, now - std::max(kStepSpanSeconds, kStepSpanCycles * period));
  const Look seen = look(samples_, latest);
  if (seen.regimes.empty()) return;
  const double ratio = seen.regimes.back().period_s / period;
  if (!same_iteration(ratio)) return;  // the next look at more of the trace decides
  const auto lengths = all_lengths(seen);
  const auto last = static_cast<std::ptrdiff_t>(std::min(lengths.size(), kLatest));
  estimate_->period = Seconds(typical_length({lengths.end() - last, lengths.end()}));
  estimate_->at = *samples_.origin() + Seconds(now);
  collect(seen);
}

/// The cycles since the last one followed, at little cost: nothing is searched for.
void SelfLikenessDetector::advance(double now) {
  const double period = followed_s_;
  next_advance_s_ = now + std::max(kAdvanceSeconds, kAdvanceCycles * period);
  const auto marks = trail_.marks(kMarks);
  if (marks.size() < 2 || now - marks.back() > kFarBehind * period) return;
  trail_.add(follow_on(samples_, span(now), guide_, period, marks).cycles, period);
}

void SelfLikenessDetector::collect(const Look& look) {
  for (const auto& regime : look.regimes) trail_.add(regime.followed.cycles, regime.period_s);
  const Finding& latest = look.regimes.back().finding;
  guide_ = {latest.level.which, latest.factors};
  followed_s_ = look.regimes.back().period_s;
  trail_.forget_before(samples_.begin_s());
}

std::vector<Iteration> SelfLikenessDetector::take_iterations() {
  std::vector<Iteration> out;
  for (const Cycle& cycle : trail_.take())
    out.push_back({next_index_++, *samples_.origin() + Seconds(cycle.begin_s),
                   *samples_.origin() + Seconds(cycle.end_s), ProgressSource::telemetry});
  return out;
}

PeriodSummary SelfLikenessDetector::summary() const {
  PeriodSummary out;
  out.points = samples_.used();
  out.dropped = samples_.dropped();
  if (samples_.gaps() > 0)
    out.notes.push_back(
        cat(samples_.gaps(), samples_.gaps() == 1 ? " gap" : " gaps", " longer than 2 s in the readings"));
  if (decided_after_s_) out.decided_after = Seconds(*decided_after_s_);
  if (first_s_) out.first = Seconds(*first_s_);
  if (samples_.used() < kLeastPoints || samples_.end_s() < 2) {
    out.notes.emplace_back("too short a trace for a verdict");
    return out;
  }
  Examined examined = examine(samples_.end_s());
  auto& said = examined.statement;
  if (!said.periodic && samples_.end_s() < kLeastTraceSeconds) {
    out.notes.emplace_back("too short a trace for a verdict");
    return out;
  }
  if (said.periodic) {
    out.last = Seconds(examined.latest_s);
    if (!out.first) out.first = said.period;
    if (examined.look.regimes.size() > 1)
      out.notes.emplace_back("the iteration changed its length on the way");
  }
  if (!out.decided_after) out.decided_after = Seconds(samples_.end_s());
  out.verdict = std::move(said);
  return out;
}

}  // namespace

std::unique_ptr<PeriodDetector> make_period_detector(const TelemetryFacts& facts) {
  return std::make_unique<SelfLikenessDetector>(facts);
}

}  // namespace rubato::progress
