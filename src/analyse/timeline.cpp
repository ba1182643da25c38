#include "analyse/timeline.h"

#include <rubato/mark_layout.h>

#include <algorithm>

#include "analyse/mark_names.h"
#include "analyse/mark_streams.h"
#include "base/text.h"
#include "progress/iteration_tracker.h"

namespace rubato::analyse {
namespace {

// More epochs than anybody trains: the number is garbage.
constexpr std::uint64_t kMostEpochs = 100'000'000;

TimePoint last_reading(const record::RunRecord& run) {
  TimePoint last = run.info.begin;
  for (const record::DeviceRecord& d : run.devices)
    if (!d.fast.empty()) last = std::max(last, d.fast.back().at);
  for (const record::ChannelRecord& c : run.channels)
    if (!c.readings.empty()) last = std::max(last, c.readings.back().at);
  return last;
}

std::string name_of_id(const record::RunRecord& run, std::uint64_t id) {
  const auto name = run.names.find(id);
  return name == run.names.end() || name->second.empty() ? cat("without a name (", id, ")") : name->second;
}

void say_once(std::vector<Remark>& remarks, const Mark& mark, std::string text) {
  if (std::ranges::find(remarks, text, &Remark::text) == remarks.end())
    remarks.push_back({mark.at, std::move(text)});
}

// How many steps every iteration holds; absent where that is one, or not always the same.
std::optional<std::int64_t> steps_of(const std::vector<Mark>& marks) {
  std::optional<std::uint64_t> steps;
  for (const Mark& m : marks) {
    if (m.kind != RUBATO_MARK_ITERATION_BEGIN) continue;
    const std::uint64_t held = std::max<std::uint64_t>(1, m.detail[0]);
    if (steps && *steps != held) return std::nullopt;
    steps = held;
  }
  if (!steps || *steps < 2 || *steps > kMostEpochs) return std::nullopt;
  return static_cast<std::int64_t>(*steps);
}

// An epoch does not outlive the training that holds it.
void cut_at_trainings(const std::vector<Span>& trainings, std::vector<Span>& epochs) {
  for (Span& epoch : epochs) {
    auto after = std::ranges::upper_bound(trainings, epoch.begin, {}, &Span::begin);
    if (after == trainings.begin()) continue;
    const Span& training = *--after;
    if (epoch.begin >= training.end || epoch.end <= training.end) continue;
    epoch.end = training.end;
    epoch.cut_short = true;
  }
}

}  // namespace

bool phase_has_energy(std::uint64_t phase) {
  return phase == RUBATO_PHASE_DATA || phase == RUBATO_PHASE_EVALUATION || phase == RUBATO_PHASE_CHECKPOINT;
}

bool is_phase(const Span& span, std::uint64_t phase) {
  return span.kind == SpanKind::phase && span.id == phase;
}

Timeline timeline_of(const record::RunRecord& run) {
  Timeline t;
  t.begin = run.info.begin;
  t.end = std::max(run.end ? run.end->end : last_reading(run), t.begin);
  std::vector<Mark> marks;
  marks.reserve(run.marks.size());
  for (const Mark& m : run.marks)
    if (m.at >= t.begin && m.at <= t.end)
      marks.push_back(m);
    else
      ++t.ignored;
  progress::IterationTracker tracker;
  tracker.add(marks);
  (void)tracker.take();
  MarkStreams streams(marks, tracker.clock(), t.end);
  t.trainings = streams.spans(SpanKind::training);
  t.epochs = streams.spans(SpanKind::epoch);
  t.phases = streams.spans(SpanKind::phase);
  t.windows = streams.spans(SpanKind::window);
  t.ignored += streams.ignored() + tracker.out_of_order();
  cut_at_trainings(t.trainings, t.epochs);
  for (Span& phase : t.phases) phase.name = name_of_phase(phase.id);
  for (Span& window : t.windows) window.name = name_of_id(run, window.id);
  if (!t.epochs.empty())
    for (const Mark& m : marks)
      if (m.kind == RUBATO_MARK_EPOCH_BEGIN && m.at == t.epochs.back().begin && m.id == t.epochs.back().id &&
          m.detail[0] > 0 && m.detail[0] <= kMostEpochs)
        t.planned_epochs = static_cast<std::int64_t>(m.detail[0]);
  t.steps_per_iteration = steps_of(marks);
  for (const Mark& m : marks) {
    t.first_mark = t.first_mark ? std::min(*t.first_mark, m.at) : m.at;
    t.last_mark = t.last_mark ? std::max(*t.last_mark, m.at) : m.at;
    if (m.kind == RUBATO_MARK_HOOK) say_once(t.hooks, m, name_of_id(run, m.id));
    if (m.kind == RUBATO_MARK_PROBLEM) say_once(t.problems, m, name_of_id(run, m.id));
    if (m.kind == RUBATO_MARK_POINT) t.points.push_back({m.at, name_of_id(run, m.id)});
  }
  return t;
}

}  // namespace rubato::analyse
