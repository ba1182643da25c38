#include "govern/slack/rank_slack.h"

#include <algorithm>
#include <numeric>

namespace rubato::govern {
namespace {

constexpr std::size_t kFirstGroups = 8;
// A first probe costs so much where there is no slack at all; where there is, the next goes twice as far.
constexpr double kFirstStep = 0.03;
constexpr double kLongestStep = 0.12;
constexpr double kHoped = 0.03;
constexpr double kHopedAsMuchAs = 2;  // groups that were asked
constexpr double kHopedOfHalf = 0.01;
// What a clock does to a rank is known well only nearby: it is asked once more where it was further off.
constexpr double kNearStep = 0.007;
constexpr double kNear = 0.012;
constexpr double kNearGain = 0.003;
// The job's iteration grew by more than noise, and by more than equal ranks that scatter make of it.
constexpr double kErrors = 3;
constexpr double kGrew = 0.004;
constexpr double kWorthLowering = 0.004;
constexpr double kSame = 1e-6;

}  // namespace

RankSlack::RankSlack(const std::vector<double>& weights) : weights_(weights) {
  all_ = std::accumulate(weights.begin(), weights.end(), 0.0);
  const std::size_t count = std::min(kFirstGroups, weights.size());
  for (std::size_t g = 0; g < count; ++g) {
    Group group{.step = kFirstStep};
    for (std::size_t i = weights.size() * g / count; i < weights.size() * (g + 1) / count; ++i)
      group.ranks.push_back(i);
    groups_.push_back(std::move(group));
  }
}

std::optional<RankSlack::Probe> RankSlack::next() const {
  // Of ranks that nobody has asked as much is hoped for as others turned out to have.
  double found = kHoped * kHopedAsMuchAs;
  double asked = kHopedAsMuchAs;
  for (const Group& group : groups_) {
    if (!group.asked) continue;
    found += group.slack;
    ++asked;
  }
  std::optional<Probe> best;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    if (group.known) continue;
    double weight = 0;
    for (const std::size_t i : group.ranks) weight += weights_[i];
    const double promise = (group.asked ? group.promise : found / asked) * weight / all_;
    if (best && promise <= best->promise) continue;
    best = Probe{.group = g,
                 .ranks = group.ranks,
                 .growth = (1 + group.step) / (1 - group.slack) - 1,
                 .at_most = group.step,
                 .promise = promise};
  }
  return best;
}

void RankSlack::tell(const Probe& probe, double growth, double ratio, double error) {
  Group& group = groups_[probe.group];
  group.asked = true;
  const bool grew = ratio - 1 > std::max(kErrors * error, kGrew);
  if (!grew) {
    group.slack = std::max(group.slack, 1 - 1 / (1 + growth));
    group.promise = group.step / 2;
    group.step = std::min(2 * group.step, kLongestStep);
    group.known = group.near;
    return;
  }
  group.slack = std::max(0.0, 1 - ratio / (1 + growth));
  if (group.ranks.size() > 1) return split(probe.group);
  group.known = group.near || ratio - 1 <= kNear;
  group.near = true;
  group.step = kNearStep;
  group.promise = kNearGain;
}

void RankSlack::split(std::size_t group) {
  Group& first = groups_[group];
  first.step = kFirstStep;
  first.promise = kHopedOfHalf;
  Group second = first;
  const auto middle = static_cast<std::ptrdiff_t>(first.ranks.size() / 2);
  second.ranks.erase(second.ranks.begin(), second.ranks.begin() + middle);
  first.ranks.erase(first.ranks.begin() + middle, first.ranks.end());
  groups_.push_back(std::move(second));
}

std::vector<double> RankSlack::growth(double margin) const {
  std::vector<double> out(weights_.size());
  for (const Group& group : groups_) {
    const double growth = (1 - margin) / (1 - group.slack) - 1;
    if (growth < kWorthLowering) continue;
    for (const std::size_t i : group.ranks) out[i] = growth;
  }
  return out;
}

void RankSlack::settle(const std::vector<double>& growth, double margin) {
  for (Group& group : groups_) {
    const double slack = std::max(0.0, 1 - (1 - margin) / (1 + growth[group.ranks.front()]));
    if (slack >= group.slack - kSame) continue;
    group.slack = slack;
    group.known = true;
  }
}

}  // namespace rubato::govern
