#include "progress/kernels/followed_pattern.h"

#include "progress/kernels/confidence.h"

namespace rubato::progress::kernels {

FollowedStep FollowedPattern::follow(const LaunchHistory& launched, const TokenTable& tokens,
                                     const LaunchHistory::Entry& e) {
  if (launched.pid(e.lane) != pid) return {};
  ++since_whole;
  if (e.lane != lane) {
    ++others_;
    return {};
  }
  const auto symbol = symbol_of(found, tokens, e.token);
  if (!symbol) {
    cutter.pass_over();
    return {};
  }
  const std::int64_t before = cutter.ended();
  FollowedStep step{.at = e.begin, .cut = cutter.add(*symbol, e.begin)};
  step.ended = cutter.ended() - before;
  if (step.cut) {
    log.add(
        {.begin = step.cut->begin, .end = step.cut->end, .launches = step.cut->launches, .others = others_});
    since_whole = 0;
    // Sorts what is kept: not for each of very short iterations.
    if (log.count() < 32 || log.count() % 8 == 0) count_launches();
  }
  if (step.ended > 0) others_ = 0;
  return step;
}

void FollowedPattern::count_launches() {
  const std::size_t own =
      found.sameness == Sameness::anchors ? log.median_launches().value_or(0) : found.pattern.size();
  launches = own + log.mean_others();
}

double FollowedPattern::confidence(unsigned silent_cycles) const {
  return confidence_in({.iterations = log.count(),
                        .period = log.period().value_or(Seconds(0)),
                        .launches = launches,
                        .sameness = found.sameness,
                        .match = found.match,
                        .unit_chance = found.unit_chance,
                        .micro_batches = found.micro_batches > 1,
                        .silent_cycles = silent_cycles,
                        .recognised = recognised()});
}

}  // namespace rubato::progress::kernels
