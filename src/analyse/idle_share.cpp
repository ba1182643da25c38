#include <algorithm>

#include "analyse/scopes.h"
#include "base/text.h"

namespace rubato::analyse {
namespace {

// Shorter, and a GPU may still be on its way down from work: power states follow load by seconds.
constexpr Seconds kShortestIdle{5.0};

struct Stretch {
  TimePoint begin;
  TimePoint end;
  [[nodiscard]] Seconds length() const { return end - begin; }
};

// The longest stretch within [begin, end] in which every look found the GPU doing nothing.
std::optional<Stretch> idle_within(const std::vector<SlowReading>& slow, TimePoint begin, TimePoint end) {
  std::optional<Stretch> longest;
  std::optional<Stretch> now;
  for (const SlowReading& r : slow) {
    if (r.at < begin || r.at > end || !r.sm_utilisation) continue;
    if (*r.sm_utilisation > 0) {
      now.reset();
      continue;
    }
    if (now)
      now->end = r.at;
    else
      now = Stretch{r.at, r.at};
    if (!longest || now->length() > longest->length()) longest = now;
  }
  return longest;
}

std::optional<Stretch> quiet_stretch(const record::RunRecord& run, const Timeline& timeline,
                                     const record::DeviceRecord& device) {
  TimePoint first{INT64_MAX};
  TimePoint last{INT64_MIN};
  if (timeline.first_mark) {
    first = *timeline.first_mark;
    last = *timeline.last_mark;
  }
  if (!run.iterations.empty()) {
    first = std::min(first, run.iterations.front().begin);
    last = std::max(last, run.iterations.back().end);
  }
  if (first > last) return std::nullopt;
  const auto before = idle_within(device.slow, timeline.begin, first);
  const auto after = idle_within(device.slow, last, timeline.end);
  if (!before || !after) return before ? before : after;
  return before->length() >= after->length() ? before : after;
}

}  // namespace

std::vector<IdleShare> idle_shares_of(const record::RunRecord& run, const Timeline& timeline,
                                      const std::vector<EnergySource>& sources) {
  std::vector<IdleShare> shares;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const SourceFacts& facts = sources[s].facts;
    if (facts.scope != Scope::gpu || !facts.gpu) continue;
    IdleShare share{.source = s, .idle = {}, .measured_over = {}, .share = {}, .band = 0, .why_not = {}};
    share.why_not =
        "no baseline was measured: the GPU was not idle for 5 s before the first mark or after the last";
    const auto quiet = quiet_stretch(run, timeline, run.devices[*facts.gpu]);
    const TimePoint begin =
        std::max(timeline.begin, sources[s].curve.empty() ? timeline.end : sources[s].curve.begin());
    const TimePoint end = sources[s].curve.empty() ? begin : std::min(timeline.end, sources[s].curve.end());
    if (quiet && quiet->length() >= kShortestIdle && begin < end) {
      const auto idle = energy_over(sources[s], quiet->begin, quiet->end);
      const auto all = energy_over(sources[s], begin, end);
      if (idle && !idle->apportioned && all && all->energy > Joules(0)) {
        share.idle = idle->energy / quiet->length();
        share.measured_over = quiet->length();
        share.share = *share.idle * (end - begin) / all->energy;
        share.band = *share.share * (idle->band_sampling / idle->energy + all->band_sampling / all->energy);
        share.why_not.clear();
      }
    }
    shares.push_back(std::move(share));
  }
  return shares;
}

}  // namespace rubato::analyse
