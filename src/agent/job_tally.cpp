#include "agent/job_tally.h"

#include <algorithm>

namespace rubato::agent {
namespace {

// Of an agent that is ahead of all others; what falls out is interpolated over.
constexpr std::size_t kMostPoints = 512;

}  // namespace

void JobTally::expect(std::size_t count) {
  count_ = count;
  agents_.clear();
  base_.reset();
}

void JobTally::tell(Agent agent, const govern::Tally& tally, double shift) {
  Series& series = agents_[agent];
  govern::Tally point = tally;
  point.work += shift;
  if (!series.points.empty() && point.work <= series.points.back().work) return;
  series.points.push_back(point);
  if (series.points.size() > kMostPoints) series.points.erase(series.points.begin() + 1);
}

Seconds JobTally::worked(const govern::Tally& from, const govern::Tally& to) {
  return to.at - from.at - (to.outside - from.outside);
}

// Between two tellings an agent works and draws evenly.
govern::Tally JobTally::at(const Series& series, double work) {
  const auto above = std::lower_bound(series.points.begin(), series.points.end(), work,
                                      [](const govern::Tally& p, double w) { return p.work < w; });
  if (above == series.points.end()) return series.points.back();
  if (above == series.points.begin() || above->work == work) return *above;
  const govern::Tally& below = *std::prev(above);
  const double share = (work - below.work) / (above->work - below.work);
  govern::Tally out = below;
  out.work = work;
  out.at = below.at + (above->at - below.at) * share;
  out.outside += (above->outside - below.outside) * share;
  out.energy_outside += (above->energy_outside - below.energy_outside) * share;
  if (below.energy && above->energy)
    out.energy = *below.energy + (*above->energy - *below.energy) * share;
  else
    out.energy.reset();
  return out;
}

// Where the one that began last had its first point.
bool JobTally::begin() {
  if (base_) return true;
  double origin = 0;
  for (const auto& [agent, series] : agents_) origin = std::max(origin, series.points.front().work);
  for (const auto& [agent, series] : agents_)
    if (series.points.back().work < origin) return false;
  for (auto& [agent, series] : agents_) series.origin = at(series, origin);
  const govern::Tally& own = *agents_.at(own_).origin;
  if (latest_) {
    // What lies between was seen by nobody as a whole: it is outside of all that is judged.
    base_ = latest_;
    base_->outside += own.at - latest_->at;
    base_->at = own.at;
  } else {
    base_ = govern::Tally{.work = 0, .at = own.at, .energy = Joules(0)};
  }
  return true;
}

std::optional<govern::Tally> JobTally::tally() {
  if (count_ == 0 || agents_.size() < count_ || !agents_.contains(own_) || !begin()) return latest_;
  double work = agents_.begin()->second.points.back().work;
  for (const auto& [agent, series] : agents_) work = std::min(work, series.points.back().work);
  govern::Tally out = *base_;
  const Series& own = agents_.at(own_);
  const govern::Tally own_now = at(own, work);
  Seconds longest;
  for (auto& [agent, series] : agents_) {
    const govern::Tally now = at(series, work);
    longest = std::max(longest, worked(*series.origin, now));
    out.energy_outside += now.energy_outside - series.origin->energy_outside;
    if (out.energy && now.energy && series.origin->energy)
      *out.energy += *now.energy - *series.origin->energy;
    else
      out.energy.reset();
    while (series.points.size() > 1 && series.points[1].work <= work) series.points.pop_front();
  }
  const Seconds outside = own_now.outside - own.origin->outside;
  out.work += work - own.origin->work;
  out.at = base_->at + longest + outside;
  out.outside += outside;
  if (latest_ && out.work <= latest_->work) return latest_;
  latest_ = out;
  return latest_;
}

std::map<JobTally::Agent, double> JobTally::behind() const {
  std::map<Agent, double> out;
  if (!base_) return out;
  std::map<Agent, Seconds> each;
  double work = agents_.begin()->second.points.back().work;
  for (const auto& [agent, series] : agents_) work = std::min(work, series.points.back().work);
  Seconds fastest{-1};
  for (const auto& [agent, series] : agents_) {
    const Seconds time = worked(*series.origin, at(series, work));
    each[agent] = time;
    if (fastest < Seconds(0) || time < fastest) fastest = time;
  }
  if (fastest <= Seconds(0)) return out;
  for (const auto& [agent, time] : each) out[agent] = time / fastest - 1;
  return out;
}

}  // namespace rubato::agent
