#include "progress/period/period_detector.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text.h"
#include "progress/period/decision.h"
#include "progress/period/examined.h"
#include "progress/period/look.h"
#include "progress/period/look_times.h"
#include "progress/period/recall.h"
#include "progress/period/samples.h"
#include "progress/period/standing.h"
#include "progress/period/trail.h"

namespace rubato::progress {

namespace {

constexpr double kAdvanceSeconds = 1;  // or so many iterations: those since are followed on
constexpr double kAdvanceCycles = 1;
constexpr double kFarBehind = 24;    // iterations: what came since is looked for anew
constexpr std::size_t kMarks = 6;    // a template is the mean around
constexpr double kStepSeconds = 30;  // or so many iterations, whichever is longer
constexpr double kStepCycles = 24;
constexpr double kStepSpanSeconds = 14;
constexpr double kStepSpanCycles = 16;
constexpr double kSame = 0.03;             // of a period: what was lost is found again
constexpr double kSure = 0.6;              // less is looked at as often as where no period is known
constexpr double kLongTraceSeconds = 900;  // until then looks at all of it come soon enough
constexpr double kLeastTraceSeconds = 10;  // less has no verdict of "none" at its end
constexpr std::size_t kLeastPoints = 24;

/// For the iteration of the trace since `from_s`.
struct Search {
  double from_s = 0;
  LookTimes times;
  Decision decision;
  Recall recall;
  bool decided = false;
};

class SelfLikenessDetector final : public PeriodDetector {
 public:
  explicit SelfLikenessDetector(const TelemetryFacts& facts) : facts_(facts) {}

  [[nodiscard]] std::string_view name() const override { return "rubato"; }

  void add(const TelemetryPoint& point) override {
    if (!samples_.add(point)) return;
    const double now = samples_.end_s();
    if ((anew_ ? *anew_ : whole_).times.due(now))
      look_at_all(now);
    else if (!known_)
      return;
    else if (now >= next_step_s_)
      step(now);
    else if (now >= next_advance_s_)
      advance(now);
  }

  [[nodiscard]] std::optional<IterationEstimate> estimate() const override { return estimate_; }

  [[nodiscard]] std::vector<Iteration> take_iterations() override;

  [[nodiscard]] PeriodSummary summary() const override;

 private:
  void look_at_all(double now);
  void take_in(Search& search, Examined examined);
  void believe(Examined examined);
  void state_known();
  void step(double now);
  [[nodiscard]] bool confirmed_by(const Look& seen);
  void advance(double now);
  void collect(const Look& look);
  [[nodiscard]] Span span(double begin_s, double now) const;

  TelemetryFacts facts_;
  Samples samples_;
  double next_step_s_ = 0;
  double next_advance_s_ = 0;
  std::optional<IterationEstimate> estimate_;  // what is stated
  std::optional<IterationEstimate> known_;     // the period that is followed, as the last look stated it
  Standing standing_;                          // of that period
  std::optional<double> first_s_;
  std::optional<double> decided_after_s_;
  std::int64_t next_index_ = 0;
  Trail trail_;
  double followed_s_ = 0;  // length of the iterations on the trail; 0: none
  Guide guide_;
  Search whole_;
  // Where the period is lost: for another one, since it was last seen.
  std::optional<Search> anew_;
  double lost_from_s_ = 0;
  unsigned late_changes_ = 0;  // to another iteration, once the trace was long
};

Span SelfLikenessDetector::span(double begin_s, double now) const {
  return span_of(samples_, facts_, std::max(begin_s, samples_.begin_s()), now);
}

void SelfLikenessDetector::look_at_all(double now) {
  Search& search = anew_ ? *anew_ : whole_;
  const bool followed = known_ && !anew_ && known_->confidence >= kSure;
  search.times.looked(now, !search.decided ? Known::nothing : followed ? Known::period : Known::no_period);
  if (samples_.used() < kLeastPoints) return;
  auto examined = examine(samples_, span(search.from_s, now), search.recall, anew_ ? Trail() : trail_);
  search.recall.add(now, std::move(examined.look.opinions));
  take_in(search, std::move(examined));
}

void SelfLikenessDetector::take_in(Search& search, Examined examined) {
  const double now = samples_.end_s();
  const auto& said = examined.statement;
  if (!search.decided) {
    const auto found = said.periodic ? std::optional(examined.latest_s) : std::nullopt;
    search.decided = search.decision.add(found, said.confidence, now - search.from_s);
    if (!search.decided) return;
  }
  if (!decided_after_s_) decided_after_s_ = now;
  if (said.periodic) {
    believe(std::move(examined));
    return;
  }
  // One look that finds nothing weighs little against short ones that do.
  if (known_ && now > kLongTraceSeconds && said.confidence <= standing_.confidence()) return;
  if (!anew_) known_.reset();
  estimate_ = std::move(examined.statement);
}

void SelfLikenessDetector::believe(Examined examined) {
  const double now = samples_.end_s();
  const double latest_s = examined.latest_s;
  auto& said = examined.statement;
  const bool same = known_ && std::abs(latest_s / followed_s_ - 1) < kSame;
  if (same)
    standing_.stated_again(anew_ ? known_->confidence : said.confidence, anew_.has_value());
  else
    standing_.stated(said.confidence);
  if (anew_ && same)
    said = *known_;
  else if (anew_)
    whole_ = std::move(*anew_);
  anew_.reset();
  if (!first_s_) first_s_ = said.period->value();
  said.period = Seconds(latest_s);
  if (followed_s_ <= 0 || !same_iteration(latest_s / followed_s_)) {
    if (followed_s_ > 0 && now > kLongTraceSeconds) ++late_changes_;
    trail_.start_again();
  }
  collect(examined.look);
  next_step_s_ = now + std::max(kStepSeconds, kStepCycles * latest_s);
  known_ = std::move(said);
  state_known();
}

void SelfLikenessDetector::state_known() {
  estimate_ = known_;
  // What changed often will again, and two short looks pass before that shows.
  const double now = samples_.end_s();
  const double unseen_s = static_cast<double>(Standing::kLeastMissed) * (next_step_s_ - now);
  estimate_->confidence = standing_.confidence() * std::exp(-unseen_s * late_changes_ / now);
}

/// Follows the iteration on: the same look, at the latest cycles only.
void SelfLikenessDetector::step(double now) {
  advance(now);
  const double period = known_->period->value();
  next_step_s_ = now + std::max(kStepSeconds, kStepCycles * period);
  const double begin_s = now - std::max(kStepSpanSeconds, kStepSpanCycles * period);
  const bool was_confirmed = standing_.confirmed();
  const bool confirmed = confirmed_by(look(samples_, span(begin_s, now)));
  standing_.stepped(confirmed);
  if (confirmed) {
    anew_.reset();
    known_->at = *samples_.origin() + Seconds(now);
  } else if (was_confirmed) {
    lost_from_s_ = std::clamp(trail_.end_s(), begin_s, now);
  }
  if (!anew_ && standing_.lost() && now > kLongTraceSeconds)
    anew_ = Search{lost_from_s_, LookTimes(lost_from_s_, now), {}, Recall(lost_from_s_)};
  if (confirmed || estimate_->periodic) state_known();
}

bool SelfLikenessDetector::confirmed_by(const Look& seen) {
  if (seen.regimes.empty()) return false;
  const double ratio = seen.regimes.back().period_s / known_->period->value();
  // A change of clock is followed; where the period is lost only itself ends the search for another.
  if (anew_ ? std::abs(ratio - 1) > kSame : !same_iteration(ratio)) return false;
  known_->period = Seconds(latest_length(all_lengths(seen)));
  collect(seen);
  return true;
}

/// The cycles since the last one followed, at little cost: nothing is searched for.
void SelfLikenessDetector::advance(double now) {
  const double period = followed_s_;
  next_advance_s_ = now + std::max(kAdvanceSeconds, kAdvanceCycles * period);
  const auto marks = trail_.marks(kMarks);
  if (marks.size() < 2 || now - marks.back() > kFarBehind * period) return;
  trail_.add(follow_on(samples_, span(0, now), guide_, period, marks).cycles, period);
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
  Examined examined = examine(samples_, span(0, samples_.end_s()), whole_.recall, trail_);
  auto& said = examined.statement;
  if (!said.periodic && samples_.end_s() < kLeastTraceSeconds) {
    out.notes.emplace_back("too short a trace for a verdict");
    return out;
  }
  if (said.periodic) {
    const bool changed = known_ && whole_.from_s > samples_.begin_s();
    out.last = changed ? *known_->period : Seconds(examined.latest_s);
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
