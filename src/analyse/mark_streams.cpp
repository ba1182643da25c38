#include "analyse/mark_streams.h"

#include <rubato/mark_layout.h>

#include <algorithm>
#include <tuple>

namespace rubato::analyse {
namespace {

struct Meaning {
  SpanKind kind;
  bool begins;
};

std::optional<Meaning> meaning_of(std::uint32_t kind) {
  switch (kind) {
    case RUBATO_MARK_TRAINING_BEGIN:
    case RUBATO_MARK_TRAINING_END:
      return Meaning{SpanKind::training, kind == RUBATO_MARK_TRAINING_BEGIN};
    case RUBATO_MARK_EPOCH_BEGIN:
    case RUBATO_MARK_EPOCH_END:
      return Meaning{SpanKind::epoch, kind == RUBATO_MARK_EPOCH_BEGIN};
    case RUBATO_MARK_PHASE_BEGIN:
    case RUBATO_MARK_PHASE_END:
      return Meaning{SpanKind::phase, kind == RUBATO_MARK_PHASE_BEGIN};
    case RUBATO_MARK_WINDOW_BEGIN:
    case RUBATO_MARK_WINDOW_END:
      return Meaning{SpanKind::window, kind == RUBATO_MARK_WINDOW_BEGIN};
    default:
      return std::nullopt;
  }
}

}  // namespace

MarkStreams::MarkStreams(const std::vector<Mark>& marks, std::optional<progress::ClockStream> clock,
                         TimePoint end)
    : clock_(std::move(clock)) {
  for (const Mark& mark : marks) {
    const auto meaning = meaning_of(mark.kind);
    if (!meaning) continue;
    Stream& stream = streams_[{mark.pid, mark.tid}];
    if (mark.at < stream.latest) {
      ++ignored_;
      continue;
    }
    stream.pid = mark.pid;
    stream.tid = mark.tid;
    stream.rank = mark.rank;
    stream.latest = mark.at;
    if (meaning->begins)
      this->begin(stream, meaning->kind, mark);
    else
      this->end(stream, meaning->kind, mark);
  }
  for (auto& [key, stream] : streams_)
    for (const SpanKind kind : {SpanKind::training, SpanKind::epoch, SpanKind::phase, SpanKind::window})
      close_all(stream, kind, end);
}

// Trainings and epochs follow each other; a phase is not inside itself; a window may be.
void MarkStreams::begin(Stream& stream, SpanKind kind, const Mark& mark) {
  if (kind == SpanKind::training) close_all(stream, SpanKind::epoch, mark.at);
  if (kind == SpanKind::training || kind == SpanKind::epoch) close_all(stream, kind, mark.at);
  auto& open = stream.open[{kind, mark.id}];
  if (kind == SpanKind::phase && !open.empty()) {
    stream.spans.push_back({kind, mark.id, {}, open.back(), mark.at, true});
    open.clear();
  }
  open.push_back(mark.at);
}

void MarkStreams::end(Stream& stream, SpanKind kind, const Mark& mark) {
  if (kind == SpanKind::training) close_all(stream, SpanKind::epoch, mark.at);
  const auto open = stream.open.find({kind, mark.id});
  if (open == stream.open.end() || open->second.empty()) {
    ++ignored_;
    return;
  }
  stream.spans.push_back({kind, mark.id, {}, open->second.back(), mark.at, false});
  open->second.pop_back();
  if (open->second.empty()) stream.open.erase(open);
}

void MarkStreams::close_all(Stream& stream, SpanKind kind, TimePoint at) {
  for (auto& [key, begins] : stream.open) {
    if (key.first != kind) continue;
    for (const TimePoint begun : begins) stream.spans.push_back({kind, key.second, {}, begun, at, true});
    begins.clear();
  }
}

std::vector<Span> MarkStreams::spans(SpanKind kind) const {
  std::map<std::uint64_t, std::vector<Candidate>> groups;  // windows by name, anything else in one
  for (const auto& [key, stream] : streams_)
    for (const Span& s : stream.spans) {
      if (s.kind != kind || s.end <= s.begin) continue;
      std::vector<Candidate>& group = groups[kind == SpanKind::window ? s.id : 0];
      if (group.empty() || group.back().stream != &stream) group.push_back({&stream, {}, s.begin, s.end});
      Candidate& c = group.back();
      c.spans.push_back(s);
      c.begin = std::min(c.begin, s.begin);
      c.end = std::max(c.end, s.end);
    }
  std::vector<Span> all;
  for (auto& [id, group] : groups) choose(group, all);
  std::ranges::stable_sort(all, {}, [](const Span& s) { return std::tuple(s.begin, s.end); });
  return all;
}

void MarkStreams::choose(std::vector<Candidate>& candidates, std::vector<Span>& out) const {
  // Candidates are in order of their keys; a stable sort keeps that order between equals.
  std::ranges::stable_sort(candidates, std::ranges::greater(), [&](const Candidate& c) {
    const bool of_clock = clock_ && clock_->pid == c.stream->pid;
    return std::tuple(of_clock, c.stream->rank == 0, of_clock && clock_->tid == c.stream->tid,
                      c.spans.size());
  });
  // A worker that was started anew goes on where the other ended, and counts too.
  std::vector<const Candidate*> taken;
  for (const Candidate& c : candidates) {
    const auto overlaps = [&](const Candidate* t) { return c.begin < t->end && t->begin < c.end; };
    if (std::ranges::any_of(taken, overlaps)) continue;
    taken.push_back(&c);
    out.insert(out.end(), c.spans.begin(), c.spans.end());
  }
}

}  // namespace rubato::analyse
