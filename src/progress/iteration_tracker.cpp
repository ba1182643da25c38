#include "progress/iteration_tracker.h"

#include <rubato/mark_layout.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "progress/stats.h"

namespace rubato::progress {
namespace {

constexpr std::size_t kRecent = 31;         // spacings a median is taken over
constexpr std::size_t kEnoughForPause = 5;  // fewer say nothing about what is usual
// A jump of the id by more is not loss but a program that numbers otherwise.
constexpr std::uint64_t kMostLost = 1'000'000;
// A stream that has said nothing for this long, and this many of its iterations, has ended (elastic
// restarts).
constexpr double kSilentIterations = 20;
constexpr Seconds kSilent{30};
// A script that runs one training after another: the next one has done so many, and the one before nothing
// for as many of its own as a pause is long.
constexpr std::int64_t kFollows = 2;
// What the next one did until then is its own; more than that nobody hands over.
constexpr std::size_t kMostKept = 64;

std::optional<double> usual_spacing(const std::deque<double>& spacing_s) {
  if (spacing_s.size() < kEnoughForPause) return std::nullopt;
  return median(std::vector<double>(spacing_s.begin(), spacing_s.end()));
}

}  // namespace

void IterationTracker::add(std::span<const Mark> marks) {
  for (const Mark& mark : marks) add(mark);
}

void IterationTracker::add(const Mark& mark) {
  const bool begins = mark.kind == RUBATO_MARK_ITERATION_BEGIN;
  if (!begins && mark.kind != RUBATO_MARK_ITERATION_END) return;
  Stream& stream = streams_[{mark.pid, mark.tid}];
  if (mark.at < stream.latest) {
    ++out_of_order_;
    return;
  }
  if (stream.latest.ns == INT64_MIN) stream.first = mark.at;
  stream.latest = mark.at;
  stream.rank = mark.rank;
  if (begins) {
    begin(stream, mark);
  } else {
    end(stream, mark);
  }
}

bool IterationTracker::is_pause(const Stream& stream, Seconds span) const {
  const auto usual = usual_spacing(stream.spacing_s);
  return usual && span.value() > pause_factor_ * *usual;
}

// Iterations [from_id, to_id) happened, but their marks did not reach us.
void IterationTracker::miss(Stream& stream, std::uint64_t from_id, std::uint64_t to_id) {
  if (to_id <= from_id) return;
  const std::uint64_t count = to_id - from_id > kMostLost ? 1 : to_id - from_id;
  stream.missed += static_cast<std::int64_t>(count);
  stream.completed += static_cast<std::int64_t>(count);
  lost_ += static_cast<std::int64_t>(count);
  stream.previous_begin.reset();
}

void IterationTracker::finish(Stream& stream, TimePoint end, bool by_next_begin) {
  const Open open = *stream.open;
  stream.open.reset();
  stream.previous_end = end;
  stream.last_ended = open.id;
  ++stream.completed;
  TrackedIteration done{
      {0, open.begin, end}, by_next_begin, is_pause(stream, end - open.begin), open.pause_before};
  stream.ready.push_back(done);
}

void IterationTracker::begin(Stream& stream, const Mark& mark) {
  std::optional<Seconds> pause;
  if (stream.open) {
    if (mark.id > stream.open->id + 1) {
      miss(stream, stream.open->id, mark.id);
      stream.open.reset();
    } else {
      finish(stream, mark.at, true);
    }
  } else if (stream.last_ended) {
    miss(stream, *stream.last_ended + 1, mark.id);
    if (stream.previous_begin && is_pause(stream, mark.at - *stream.previous_begin)) {
      const Seconds between = mark.at - stream.previous_end;
      // A long iteration is a pause of its own; here the program was elsewhere.
      if (is_pause(stream, between)) pause = between;
    }
  }
  if (stream.previous_begin) {
    stream.spacing_s.push_back((mark.at - *stream.previous_begin).value());
    if (stream.spacing_s.size() > kRecent) stream.spacing_s.pop_front();
  }
  stream.previous_begin = mark.at;
  stream.open = Open{mark.at, mark.id, pause};
}

void IterationTracker::end(Stream& stream, const Mark& mark) {
  if (stream.open && stream.open->id == mark.id) {
    finish(stream, mark.at, false);
    return;
  }
  if (stream.open && mark.id < stream.open->id) return;  // of something already counted
  // The begin was lost, and with it whatever lies between the last we know of and this.
  const std::uint64_t known = stream.open ? stream.open->id : stream.last_ended.value_or(mark.id - 1) + 1;
  miss(stream, std::min(known, mark.id), mark.id + 1);
  stream.open.reset();
  stream.previous_begin.reset();
  stream.previous_end = mark.at;
  stream.last_ended = mark.id;
}

bool IterationTracker::is_followed(const Key& key, const Stream& stream) const {
  return std::any_of(streams_.begin(), streams_.end(), [&](const auto& entry) {
    const auto& [other, next] = entry;
    return other.first != key.first && next.first >= stream.latest && next.completed >= kFollows &&
           is_pause(stream.spacing_s.size() < kEnoughForPause ? next : stream, next.latest - stream.latest);
  });
}

void IterationTracker::choose() {
  TimePoint newest{INT64_MIN};
  TimePoint youngest{INT64_MIN};
  for (const auto& [key, stream] : streams_) {
    newest = std::max(newest, stream.latest);
    youngest = std::max(youngest, stream.first);
  }
  const auto silent = [&](const std::pair<const Key, Stream>& entry) {
    const Stream& stream = entry.second;
    const double usual = usual_spacing(stream.spacing_s).value_or(0);
    return newest - stream.latest > std::max(kSilent, Seconds(kSilentIterations * usual)) ||
           (youngest >= stream.latest && is_followed(entry.first, stream));
  };
  // Rank 0 before others, live before silent, then the busiest; the first key breaks a tie, so that the order
  // in which rings were found does not matter.
  const auto standing = [&](const std::pair<const Key, Stream>& entry) {
    return std::make_tuple(!silent(entry), entry.second.rank == 0, entry.second.completed);
  };
  const std::pair<const Key, Stream>* best = nullptr;
  for (const auto& entry : streams_) {
    if (entry.second.completed == 0) continue;
    if (!best || standing(entry) > standing(*best)) best = &entry;
  }
  if (!best || clock_ == best->first) return;
  if (clock_) {
    const auto now = standing(*streams_.find(*clock_));
    const auto other = standing(*best);
    const bool same_class = std::get<0>(now) == std::get<0>(other) && std::get<1>(now) == std::get<1>(other);
    // Streams of equal standing take turns at being a mark ahead; only a clear lead is worth a change of
    // clock.
    if (same_class && std::get<2>(other) <= 2 * std::get<2>(now)) return;
  }
  clock_ = best->first;
  why_ = best->second.rank == 0 ? "it is rank 0"
         : streams_.size() == 1 ? "it is the only one that marks iterations"
                                : cat("it is the busiest of ", streams_.size(), " that mark iterations");
}

std::vector<TrackedIteration> IterationTracker::take() {
  const auto before = clock_;
  choose();
  std::vector<TrackedIteration> taken;
  const TimePoint told_until = clock_ ? streams_.at(*clock_).latest : TimePoint{};
  for (auto& [key, stream] : streams_) {
    if (key == clock_) {
      completed_ += stream.missed;
      for (TrackedIteration& done : stream.ready) {
        // After a change of clock the new stream's past was told by the old one.
        if (last_end_ && done.iteration.end <= *last_end_) continue;
        if (taken.empty() && before && before != clock_ && last_end_ && !done.pause_before) {
          const Seconds between = done.iteration.begin - *last_end_;
          const Stream& past = streams_.at(*before);
          if (is_pause(past.spacing_s.size() < kEnoughForPause ? stream : past, between))
            done.pause_before = between;
        }
        done.iteration.index = completed_++;
        last_end_ = done.iteration.end;
        taken.push_back(done);
      }
    }
    // It may turn out to be the one that follows.
    if (key != clock_ && stream.first >= told_until && stream.ready.size() <= kMostKept) continue;
    stream.ready.clear();
    stream.missed = 0;
  }
  return taken;
}

std::optional<ClockStream> IterationTracker::clock() const {
  if (!clock_) return std::nullopt;
  return ClockStream{clock_->first, clock_->second, streams_.at(*clock_).rank, why_};
}

}  // namespace rubato::progress
