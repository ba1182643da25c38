#include "progress/arbiter.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "progress/arbiter/compare.h"

namespace rubato::progress {
namespace {

constexpr double kTrustFrom = 0.5;
constexpr double kTrustUntil = 0.35;
// The longest iteration the detectors look for; a controller that waits longer for each learns too slowly.
constexpr double kCoarseFromSeconds = 30;
constexpr double kCoarseUntilSeconds = 20;

constexpr std::array<ProgressSource, 3> kBestFirst{ProgressSource::marks, ProgressSource::kernels,
                                                   ProgressSource::telemetry};

std::size_t index_of(ProgressSource source) {
  return static_cast<std::size_t>(source);
}

double fresh_for_seconds(const IterationEstimate& e) {
  const double period = e.period ? e.period->value() : 0;
  switch (e.source) {
    case ProgressSource::marks:
      return std::max(10.0, 10 * period);
    case ProgressSource::kernels:
      return std::max(180.0, 5 * period);
    case ProgressSource::telemetry:
      return std::max(30.0, 5 * period);
  }
  return 0;
}

bool usable(const IterationEstimate& e) {
  if (!std::isfinite(e.confidence) || e.confidence < 0 || e.confidence > 1) return false;
  return !e.periodic || (e.period && std::isfinite(e.period->value()) && e.period->value() > 0);
}

struct Candidate {
  const IterationEstimate* estimate;
  double confidence;  // after the checks
};

}  // namespace

void Arbiter::tell(const IterationEstimate& estimate) {
  const std::size_t i = index_of(estimate.source);
  if (!usable(estimate) || (latest_[i] && estimate.at < latest_[i]->at)) return;
  latest_[i] = estimate;
  trusted_[i] = estimate.confidence >= (trusted_[i] ? kTrustUntil : kTrustFrom);
  if (estimate.source == ProgressSource::marks && estimate.periodic)
    marks_coarse_ = estimate.period->value() > (marks_coarse_ ? kCoarseUntilSeconds : kCoarseFromSeconds);
}

void Arbiter::silent(ProgressSource source) {
  latest_[index_of(source)].reset();
  trusted_[index_of(source)] = false;
  if (source == ProgressSource::marks) marks_coarse_ = false;
}

Ruling Arbiter::rule(TimePoint now) const {
  std::vector<const IterationEstimate*> heard;
  for (const ProgressSource source : kBestFirst) {
    const auto& e = latest_[index_of(source)];
    if (e && (now - e->at).value() <= fresh_for_seconds(*e)) heard.push_back(&*e);
  }
  // A rhythm that one source follows is worth more than another's word that there is none.
  const auto trusted = [&](const IterationEstimate* e) { return trusted_[index_of(e->source)]; };
  const bool periodic =
      std::any_of(heard.begin(), heard.end(), [&](const auto* e) { return trusted(e) && e->periodic; });
  const auto finer_than_marks = [&](const IterationEstimate* e) {
    return e->source != ProgressSource::marks && trusted(e) && e->periodic &&
           e->relation != PeriodRelation::beat && e->period->value() < kCoarseUntilSeconds;
  };
  const bool epochs = marks_coarse_ && std::any_of(heard.begin(), heard.end(), finer_than_marks);

  // An epoch holds evaluations besides its iterations: no whole number of them, and no contradiction.
  const auto check = [&](const IterationEstimate& used, const IterationEstimate& other) {
    Comparison c = compare(used, other);
    if (!epochs || other.source != ProgressSource::marks) return c;
    c.finding = Agreement::silent;
    c.check.agrees = true;
    c.check.why = cat("marks are ", *other.period, " apart: epochs or evaluations");
    return c;
  };

  std::vector<Candidate> candidates;
  for (const IterationEstimate* e : heard) {
    if (!trusted(e) || e->periodic != periodic) continue;
    if (epochs && e->source == ProgressSource::marks) continue;
    double confidence = e->confidence;
    for (const IterationEstimate* other : heard)
      if (other != e) confidence = after_check(confidence, *e, *other, check(*e, *other).finding);
    candidates.push_back({e, confidence});
  }

  Ruling ruling;
  if (candidates.empty()) {
    ruling.why =
        heard.empty() ? "no source tells of an iteration" : "no source is sure enough of what it tells";
    return ruling;
  }
  // The best that its checks leave standing; where they leave none, the one they leave most.
  auto chosen = std::find_if(candidates.begin(), candidates.end(),
                             [](const Candidate& c) { return c.confidence >= kTrustUntil; });
  if (chosen == candidates.end())
    chosen = std::max_element(candidates.begin(), candidates.end(),
                              [](const auto& a, const auto& b) { return a.confidence < b.confidence; });
  const IterationEstimate& used = *chosen->estimate;
  ruling.estimate = used;
  ruling.estimate->confidence = chosen->confidence;
  for (const IterationEstimate* other : heard)
    if (other != &used) ruling.checks.push_back(check(used, *other).check);

  ruling.why = cat(name_of(used.source), ": the best source that can be trusted");
  if (epochs)
    ruling.why =
        cat(name_of(used.source), ": the marks are ", *latest_[index_of(ProgressSource::marks)]->period,
            " apart and mark no single iteration");
  else if (chosen != candidates.begin())
    ruling.why = cat(name_of(used.source), ": the other sources contradict the ",
                     name_of(candidates.front().estimate->source));
  return ruling;
}

}  // namespace rubato::progress
