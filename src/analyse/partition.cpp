#include "analyse/partition.h"

#include <rubato/mark_layout.h>

#include <algorithm>

#include "progress/stats.h"

namespace rubato::analyse {
namespace {

constexpr std::string_view kBetweenEpochs = "between epochs";
constexpr std::string_view kPause = "pause";
constexpr std::string_view kWithoutIterations = "without iterations";

// Evaluations and checkpoints, in order and without overlap.
std::vector<Piece> events_of(const Timeline& timeline) {
  std::vector<Piece> events;
  for (const Span& phase : timeline.phases)
    if (is_phase(phase, RUBATO_PHASE_EVALUATION) || is_phase(phase, RUBATO_PHASE_CHECKPOINT))
      events.push_back({phase.name, phase.begin, phase.end});
  std::ranges::stable_sort(events, {}, &Piece::begin);
  TimePoint covered{INT64_MIN};
  for (Piece& e : events) {
    e.begin = std::max(e.begin, covered);
    covered = std::max(covered, e.end);
  }
  std::erase_if(events, [](const Piece& e) { return e.begin >= e.end; });
  return events;
}

class Cutter {
 public:
  explicit Cutter(const Timeline& timeline) : events_(events_of(timeline)) {
    for (const Span& epoch : timeline.epochs) {
      boundaries_.push_back(epoch.begin);
      boundaries_.push_back(epoch.end);
    }
    std::ranges::sort(boundaries_);
  }

  [[nodiscard]] bool is_special(TimePoint begin, TimePoint end) const {
    return boundary_in(begin, end) || (next_event(begin) != events_.end() && next_event(begin)->begin < end);
  }

  void gap(std::string_view label, TimePoint begin, TimePoint end, std::vector<Piece>& out) const {
    if (label == kPause && boundary_in(begin, end)) label = kBetweenEpochs;
    for (auto e = next_event(begin); e != events_.end() && e->begin < end; ++e) {
      push(out, label, begin, e->begin);
      const TimePoint until = std::min(e->end, end);
      push(out, e->label, std::max(begin, e->begin), until);
      begin = until;
    }
    push(out, label, begin, end);
  }

  static void push(std::vector<Piece>& out, std::string_view label, TimePoint begin, TimePoint end) {
    if (begin < end) out.push_back({std::string(label), begin, end});
  }

 private:
  [[nodiscard]] bool boundary_in(TimePoint begin, TimePoint end) const {
    const auto at = std::ranges::lower_bound(boundaries_, begin);
    return at != boundaries_.end() && *at <= end;
  }
  // The first event that ends after `t`.
  [[nodiscard]] std::vector<Piece>::const_iterator next_event(TimePoint t) const {
    return std::ranges::upper_bound(events_, t, {}, &Piece::end);
  }

  std::vector<Piece> events_;
  std::vector<TimePoint> boundaries_;
};

}  // namespace

std::vector<Iteration> sound_iterations(const record::RunRecord& run, const Timeline& timeline) {
  std::vector<Iteration> all;
  all.reserve(run.iterations.size());
  for (const Iteration& i : run.iterations)
    // A host that launches the first iteration and goes on marks it as no time at all: it counts.
    if (i.begin >= timeline.begin && i.end <= timeline.end && i.begin <= i.end) all.push_back(i);
  std::ranges::stable_sort(all, {}, &Iteration::begin);
  TimePoint covered{INT64_MIN};
  std::erase_if(all, [&covered](const Iteration& i) {
    if (i.begin < covered) return true;
    covered = i.end;
    return false;
  });
  return all;
}

std::vector<Piece> partition_of(const std::vector<Iteration>& iterations, const Timeline& timeline) {
  std::vector<Piece> pieces;
  const Cutter cutter(timeline);
  if (iterations.empty()) {
    cutter.gap(kWithoutIterations, timeline.begin, timeline.end, pieces);
    return pieces;
  }
  std::vector<double> lengths;
  lengths.reserve(iterations.size());
  for (const Iteration& i : iterations) lengths.push_back(i.duration().value());
  const Seconds usual{progress::median(lengths).value_or(0)};

  cutter.gap(kStartUp, timeline.begin, iterations.front().begin, pieces);
  TimePoint begin = iterations.front().begin;
  for (std::size_t i = 0; i + 1 < iterations.size(); ++i) {
    const TimePoint from = iterations[i].end;
    const TimePoint to = iterations[i + 1].begin;
    if (to - from <= usual && !cutter.is_special(from, to)) continue;
    Cutter::push(pieces, kIterations, begin, from);
    cutter.gap(kPause, from, to, pieces);
    begin = to;
  }
  Cutter::push(pieces, kIterations, begin, iterations.back().end);
  cutter.gap(kEnd, iterations.back().end, timeline.end, pieces);
  return pieces;
}

}  // namespace rubato::analyse
