#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "progress/arbiter.h"
#include "progress/arbiter/compare.h"

namespace rubato::progress {
namespace {

IterationEstimate any_estimate(ProgressSource source) {
  IterationEstimate e;
  e.source = source;
  e.at = TimePoint{} + Seconds(*rc::gen::inRange(0, 60));
  e.periodic = *rc::gen::inRange(0, 5) > 0;
  if (e.periodic) e.period = Seconds(*rc::gen::inRange(5, 6000) / 100.0);
  e.relation = static_cast<PeriodRelation>(*rc::gen::inRange(0, 3));
  e.confidence = *rc::gen::inRange(0, 101) / 100.0;
  return e;
}

RC_GTEST_PROP(Arbiter, OrderOfTheSourcesDoesNotMatter, ()) {
  std::vector<IterationEstimate> told{any_estimate(ProgressSource::marks),
                                      any_estimate(ProgressSource::kernels),
                                      any_estimate(ProgressSource::telemetry)};
  const TimePoint now = TimePoint{} + Seconds(60);
  std::vector<std::size_t> order{0, 1, 2};
  std::optional<Ruling> first;
  do {
    Arbiter arbiter;
    for (const std::size_t i : order) arbiter.tell(told[i]);
    const Ruling ruling = arbiter.rule(now);
    if (!first) first = ruling;
    RC_ASSERT(ruling.estimate.has_value() == first->estimate.has_value());
    RC_ASSERT(ruling.why == first->why);
    RC_ASSERT(ruling.checks.size() == first->checks.size());
    if (!ruling.estimate) continue;
    RC_ASSERT(ruling.estimate->source == first->estimate->source);
    RC_ASSERT(ruling.estimate->confidence == first->estimate->confidence);
  } while (std::next_permutation(order.begin(), order.end()));
}

RC_GTEST_PROP(Arbiter, TheUnitOfTimeDoesNotMatterToAComparison, ()) {
  IterationEstimate a = any_estimate(ProgressSource::kernels);
  IterationEstimate b = any_estimate(ProgressSource::telemetry);
  const Agreement before = compare(a, b).finding;
  if (a.period) a.period = *a.period * 8.0;
  if (b.period) b.period = *b.period * 8.0;
  RC_ASSERT(compare(a, b).finding == before);
}

RC_GTEST_PROP(Arbiter, AgreementNeverLowersAndContradictionNeverRaises, ()) {
  const IterationEstimate a = any_estimate(ProgressSource::kernels);
  const IterationEstimate b =
      any_estimate(*rc::gen::element(ProgressSource::marks, ProgressSource::telemetry));
  const double same = after_check(a.confidence, a, b, Agreement::same);
  const double contradicted = after_check(a.confidence, a, b, Agreement::contradicted);
  RC_ASSERT(same >= a.confidence && same <= 1.0);
  RC_ASSERT(contradicted <= a.confidence && contradicted >= 0.0);
  RC_ASSERT(after_check(a.confidence, a, b, Agreement::whole) == a.confidence);
}

RC_GTEST_PROP(Arbiter, EveryOtherFreshSourceIsACheck, ()) {
  Arbiter arbiter;
  for (const auto source : {ProgressSource::marks, ProgressSource::kernels, ProgressSource::telemetry}) {
    IterationEstimate e = any_estimate(source);
    e.at = TimePoint{} + Seconds(60);
    arbiter.tell(e);
  }
  const Ruling ruling = arbiter.rule(TimePoint{} + Seconds(60));
  RC_ASSERT(ruling.checks.size() == (ruling.estimate ? 2U : 0U));
  for (const Check& check : ruling.checks) RC_ASSERT(!check.why.empty());
}

}  // namespace
}  // namespace rubato::progress
