#include "conduct/tally_keeper.h"

#include <algorithm>

namespace rubato::conduct {
namespace {

// Between two iterations points are kept for what may have to be split; a pause may last for hours.
constexpr std::size_t kMostPoints = 4096;

}  // namespace

void TallyKeeper::iteration(const progress::TrackedIteration& tracked) {
  const Iteration& it = tracked.iteration;
  const std::int64_t step = last_index_ ? std::max<std::int64_t>(1, it.index - *last_index_) : 1;
  last_index_ = it.index;
  End end{.at = it.end, .work = 0, .outside = std::nullopt};
  if (tracked.paused) {
    const Seconds before = tracked.pause_before.value_or(Seconds(0));
    end.outside = Span{it.begin - before, it.end};
    work_ += static_cast<double>(step - 1);
  } else {
    if (tracked.pause_before) end.outside = Span{it.begin - *tracked.pause_before, it.begin};
    work_ += static_cast<double>(step);
  }
  end.work = work_;
  if (tally_ && end.at <= tally_->at) return;  // two sources in turn: told already
  ends_.push_back(end);
  settle();
}

void TallyKeeper::energy(TimePoint at, Joules since_begin) {
  auto place = points_.end();
  while (place != points_.begin() && std::prev(place)->at > at) --place;
  if (place != points_.begin() && std::prev(place)->at == at)
    std::prev(place)->energy = since_begin;
  else
    points_.insert(place, {at, since_begin});
  settle();
}

std::optional<TimePoint> TallyKeeper::wanted(TimePoint known_until) const {
  for (auto end = ends_.rbegin(); end != ends_.rend(); ++end)
    if (end->at <= known_until) return end->at;
  return std::nullopt;
}

void TallyKeeper::settle() {
  while (!ends_.empty() && ends_.front().at <= points_.back().at) {
    const End& end = ends_.front();
    govern::Tally next = tally_.value_or(govern::Tally{});
    next.work = end.work;
    next.at = end.at;
    if (end.outside) {
      next.outside += end.outside->end - end.outside->begin;
      next.energy_outside += energy_at(end.outside->end) - energy_at(end.outside->begin);
    }
    next.energy = energy_at(end.at);
    tally_ = next;
    ends_.pop_front();
  }
  forget();
}

// Between two readings power is taken as even.
Joules TallyKeeper::energy_at(TimePoint at) const {
  const auto above = std::lower_bound(points_.begin(), points_.end(), at,
                                      [](const Point& point, TimePoint t) { return point.at < t; });
  if (above == points_.end()) return points_.back().energy;
  if (above == points_.begin() || above->at == at) return above->energy;
  const Point& below = *std::prev(above);
  return below.energy + (above->energy - below.energy) * ((at - below.at) / (above->at - below.at));
}

void TallyKeeper::forget() {
  // Whatever comes began no earlier than the latest iteration ended.
  while (tally_ && points_.size() > 1 && points_[1].at <= tally_->at) points_.pop_front();
  if (points_.size() <= kMostPoints) return;
  std::deque<Point> thinned;
  for (std::size_t i = 0; i < points_.size(); ++i)
    if (i % 2 == 0 || i + 1 == points_.size()) thinned.push_back(points_[i]);
  points_ = std::move(thinned);
}

}  // namespace rubato::conduct
