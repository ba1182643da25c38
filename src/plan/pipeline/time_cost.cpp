#include "plan/pipeline/time_cost.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace rubato::plan {
namespace {

constexpr Ticks kFar = std::numeric_limits<Ticks>::max() / 4;
constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
constexpr Pace kOrder{0, 0};  // an arc that only orders: no duration, and it can carry any flow

}  // namespace

TimeCost::TimeCost(const Project& project)
    : curves_(project.curves),
      activities_(project.activities.size()),
      first_(project.events + 1),
      moment_(project.events),
      ahead_(project.events),
      level_(project.events),
      next_(project.events) {
  arcs_.reserve(activities_ + project.order.size());
  for (const Activity& a : project.activities) {
    const auto& curve = curves_[a.curve];
    arcs_.push_back({static_cast<std::uint32_t>(a.from), static_cast<std::uint32_t>(a.to), curve.data(),
                     static_cast<std::uint32_t>(curve.size()), 0, 0});
  }
  for (const auto& [from, to] : project.order)
    arcs_.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), &kOrder, 1, 0, 0});
  place(project);
  for (const Arc& arc : arcs_) {
    ++first_[arc.from + 1];
    ++first_[arc.to + 1];
  }
  for (std::size_t event = 0; event < project.events; ++event) first_[event + 1] += first_[event];
  steps_.resize(2 * arcs_.size());
  std::copy(first_.begin(), first_.end() - 1, next_.begin());
  for (std::uint32_t i = 0; i < arcs_.size(); ++i) {
    steps_[next_[arcs_[i].from]++] = 2 * i;
    steps_[next_[arcs_[i].to]++] = 2 * i + 1;
  }
  settle();
}

/// Every event as early as the longest durations allow.
void TimeCost::place(const Project& project) {
  std::vector<std::vector<std::uint32_t>> out(project.events);
  std::vector<std::uint32_t> missing(project.events);
  for (std::uint32_t i = 0; i < arcs_.size(); ++i) {
    out[arcs_[i].from].push_back(i);
    ++missing[arcs_[i].to];
  }
  queue_.assign(1, kBegin);
  for (std::size_t done = 0; done < queue_.size(); ++done)
    for (const std::uint32_t i : out[queue_[done]]) {
      Ticks& moment = moment_[arcs_[i].to];
      moment = std::max(moment, moment_[queue_[done]] + arcs_[i].paces->duration);
      if (--missing[arcs_[i].to] == 0) queue_.push_back(arcs_[i].to);
    }
}

TimeCost::Residual TimeCost::residual(Step step) const {
  const Arc& arc = arcs_[step / 2];
  const Ticks apart = moment_[arc.to] - moment_[arc.from];
  const Pace& pace = arc.paces[arc.piece];
  if (step % 2 == 0) {
    const CostPerTick room = arc.piece + 1 == arc.count ? kEndless : pace.price - arc.flow;
    return {apart - pace.duration, room};
  }
  const CostPerTick below = arc.piece == 0 ? 0 : arc.paces[arc.piece - 1].price;
  if (arc.flow > below) return {pace.duration - apart, arc.flow - below};
  if (arc.piece == 0) return {};
  const CostPerTick further = arc.piece == 1 ? 0 : arc.paces[arc.piece - 2].price;
  return {arc.paces[arc.piece - 1].duration - apart, arc.flow - further};
}

void TimeCost::send(Step step, CostPerTick amount) {
  Arc& arc = arcs_[step / 2];
  arc.flow += step % 2 == 0 ? amount : -amount;
  while (arc.piece + 1 < arc.count && arc.flow >= arc.paces[arc.piece].price) ++arc.piece;
  while (arc.piece > 0 && arc.flow < arc.paces[arc.piece - 1].price) --arc.piece;
}

/// Events by how many steps without slack they are from the beginning; whether the end is among them.
bool TimeCost::label() {
  std::fill(level_.begin(), level_.end(), kNowhere);
  level_[kBegin] = 0;
  queue_.assign(1, kBegin);
  for (std::size_t done = 0; done < queue_.size(); ++done) {
    const std::uint32_t event = queue_[done];
    for (std::uint32_t i = first_[event]; i < first_[event + 1]; ++i) {
      const std::uint32_t to = head(steps_[i]);
      if (level_[to] != kNowhere) continue;
      const Residual r = residual(steps_[i]);
      if (r.room <= 0 || r.slack != 0) continue;
      level_[to] = level_[event] + 1;
      if (to == kEnd) return true;
      queue_.push_back(to);
    }
  }
  return false;
}

/// A blocking flow over the labelled events (Dinic 1970).
void TimeCost::fill() {
  std::copy(first_.begin(), first_.end() - 1, next_.begin());
  path_.clear();
  std::uint32_t event = kBegin;
  while (true) {
    if (event == kEnd) {
      CostPerTick least = kEndless;
      for (const Step step : path_) least = std::min(least, residual(step).room);
      if (least == kEndless) {
        finished_ = true;
        return;
      }
      for (const Step step : path_) send(step, least);
      flow_ += least;
      path_.clear();
      event = kBegin;
      continue;
    }
    std::uint32_t& at = next_[event];
    for (; at < first_[event + 1]; ++at) {
      const std::uint32_t to = head(steps_[at]);
      if (level_[to] != level_[event] + 1) continue;
      const Residual r = residual(steps_[at]);
      if (r.room > 0 && r.slack == 0) break;
    }
    if (at < first_[event + 1]) {
      path_.push_back(steps_[at]);
      event = head(steps_[at]);
    } else if (path_.empty()) {
      return;
    } else {
      event = head(path_.back() ^ 1U);
      path_.pop_back();
      ++next_[event];
    }
  }
}

/// How far every event is from the beginning in slack: the end can be pulled that far before the cut changes
/// (Dijkstra; slack is never below zero).
void TimeCost::reach() {
  std::fill(ahead_.begin(), ahead_.end(), kFar);
  ahead_[kBegin] = 0;
  heap_.assign(1, {0, kBegin});
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto [far, event] = heap_.back();
    heap_.pop_back();
    if (far > ahead_[event]) continue;
    if (event == kEnd) return;
    for (std::uint32_t i = first_[event]; i < first_[event + 1]; ++i) {
      const Residual r = residual(steps_[i]);
      if (r.room <= 0) continue;
      const std::uint32_t to = head(steps_[i]);
      if (far + r.slack >= ahead_[to]) continue;
      ahead_[to] = far + r.slack;
      heap_.emplace_back(ahead_[to], to);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
  }
}

void TimeCost::settle() {
  while (!finished_ && label()) fill();
  if (finished_) return;
  reach();
  ++breakpoints_;
}

void TimeCost::pull(Ticks ticks) {
  for (std::size_t event = 0; event < moment_.size(); ++event) {
    const Ticks part = std::min(ticks, ahead_[event]);
    moment_[event] -= part;
    ahead_[event] -= part;
  }
}

void TimeCost::shorten_to(Ticks time) {
  while (!finished_ && moment_[kEnd] > time) {
    pull(std::min(moment_[kEnd] - time, ahead_[kEnd]));
    if (ahead_[kEnd] == 0) settle();
  }
}

void TimeCost::shorten_below(CostPerTick price) {
  while (!finished_ && flow_ < price) {
    pull(ahead_[kEnd]);
    settle();
  }
}

Ticks TimeCost::duration(std::size_t activity) const {
  const Arc& arc = arcs_[activity];
  return std::min(moment_[arc.to] - moment_[arc.from], arc.paces->duration);
}

}  // namespace rubato::plan
