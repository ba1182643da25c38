#include "progress/kernel_sequence.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "progress/kernels/confidence.h"
#include "progress/kernels/followed_pattern.h"
#include "progress/kernels/launch_history.h"
#include "progress/kernels/launch_rate.h"
#include "progress/kernels/token_table.h"

namespace rubato::progress {

using namespace kernels;  // the parts this file puts together

namespace {

constexpr std::uint64_t kSmallLoss = 32;       // launches: a pattern is followed over so many lost ones
constexpr std::uint64_t kFirstSearch = 16;     // launches
constexpr std::uint64_t kProcessLook = 1'024;  // launches after which another process may be followed
constexpr std::size_t kMostStreams = 3;        // searched, the busiest first
constexpr unsigned kManyFailures = 12;
constexpr std::size_t kFewLaunches = 1U << 15;
constexpr std::size_t kMostWaiting = 1U << 16;  // iterations that nobody took
constexpr double kHoldsOthers = 1.5;  // a pattern so many times as long may have another as its part
constexpr double kWithin = 2.0;       // and has, where its iterations begin as near as this, in their length
// Confidence from which on iterations are told; of very short ones, which layers of a network look like,
// more.
constexpr double kTrusted = 0.6;
constexpr double kTrustedShort = 0.9;
constexpr Seconds kShort{0.002};
constexpr Seconds kOtherPhase{5};  // an evaluation may last so long, or a tenth of what was trained

}  // namespace

struct KernelSequence::Impl {
  TokenTable table;
  LaunchHistory history;
  LaunchRate rate;
  std::optional<FollowedPattern> followed;
  std::optional<std::int32_t> process;
  std::optional<std::array<std::uint8_t, 16>> device;
  std::vector<Iteration> waiting;
  std::int64_t next_index = 0;
  std::optional<TimePoint> told_until;  // end of the last iteration that was told
  TimePoint now{INT64_MIN};
  TimePoint process_now{INT64_MIN};  // of the process
  std::uint64_t dropped = 0;

  std::uint64_t launches = 0;  // used
  std::uint64_t searched_at = 0;
  unsigned failures = 0;  // searches in a row that found nothing
  std::uint64_t search_at = kFirstSearch;
  std::uint64_t review_at = 0;  // launches since the last whole iteration, when to search again

  std::uint64_t whole_in_cycle = 0;
  std::uint64_t fitted_before_cycle = 0;
  std::uint64_t launches_in_cycle = 0;
  unsigned silent_cycles = 0;
  double best_fraction = 0;  // of an iteration, in the latest cycle

  std::size_t none_launches = 0;  // of the stretch in which nothing was found
  Seconds none_stretch{0};
  bool none_equal = false;

  // As they were when iterations were last taken: until then they can be unsaid.
  std::optional<TimePoint> taken_until;
  std::int64_t taken_index = 0;

  bool use(const KernelRecord& r);
  void unsay();
  void tell(const FollowedStep& step);
  void take(const FollowedStep& step);
  [[nodiscard]] bool left_behind() { return process && history.busiest_process() != *process; }
  void search();
  [[nodiscard]] std::optional<std::pair<Lane, FoundPattern>> search_from(TimePoint from);
  void adopt(Lane lane, FoundPattern found);
  void review();
  [[nodiscard]] std::string reason() const;
  [[nodiscard]] std::optional<IterationEstimate> estimate() const;
};

bool KernelSequence::Impl::use(const KernelRecord& r) {
  const bool known = std::ranges::any_of(r.device_uuid, [](std::uint8_t b) { return b != 0; });
  if (known && !device) device = r.device_uuid;
  return !known || r.device_uuid == *device;
}

// No iteration is told twice, although a new pattern is laid over launches that an older one was followed in.
void KernelSequence::Impl::tell(const FollowedStep& step) {
  if (told_until && step.at <= *told_until) return;
  if (step.cut && (!told_until || step.cut->begin >= *told_until)) {
    if (waiting.size() >= kMostWaiting) waiting.erase(waiting.begin(), waiting.begin() + kMostWaiting / 2);
    waiting.push_back({.index = next_index,
                       .begin = step.cut->begin,
                       .end = step.cut->end,
                       .source = ProgressSource::kernels});
    told_until = step.cut->end;
  }
  next_index += step.ended;
}

// What nobody has taken yet was a part of an iteration, or none at all.
void KernelSequence::Impl::unsay() {
  waiting.clear();
  told_until = taken_until;
  next_index = taken_index;
}

// Iterations are told from the moment on at which the pattern is worth it; then also those before.
void KernelSequence::Impl::take(const FollowedStep& step) {
  if (step.cut) ++whole_in_cycle;
  if (step.ended == 0) return;
  if (!followed->trusted) {
    auto& held = followed->held;
    if (held.size() >= kMostWaiting) held.erase(held.begin(), held.begin() + kMostWaiting / 2);
    held.push_back(step);
    if (!step.cut ||
        followed->confidence(silent_cycles) < (followed->log.period() < kShort ? kTrustedShort : kTrusted))
      return;
    followed->trusted = true;
    for (const FollowedStep& one : std::exchange(followed->held, {})) tell(one);
    return;
  }
  tell(step);
}

void KernelSequence::Impl::adopt(Lane lane, FoundPattern found) {
  const std::size_t size = found.pattern.size();
  if (followed && followed->lane == lane && followed->found.sameness == found.sameness) {
    const std::size_t old = followed->found.pattern.size();
    // While a pattern goes on, what was found in a part of the launches is believed only if it is longer.
    if (followed->recognised() && !found.in_all && size < old) return;
    if (old == size) {
      followed->found.match = found.match;
      followed->found.unit_chance = found.unit_chance;
      return;
    }
  } else if (followed && followed->recognised() && (!found.in_all || found.sameness == Sameness::anchors)) {
    return;
  }
  FollowedPattern fresh(lane, history.pid(lane), std::move(found));
  std::vector<FollowedStep> steps;
  std::optional<std::uint16_t> run;
  for (const LaunchHistory::Entry& e : history.entries()) {
    if (e.lane == lane) {
      if (run && *run != e.run) fresh.cutter.lose();
      run = e.run;
    }
    const FollowedStep step = fresh.follow(history, table, e);
    if (step.ended > 0) steps.push_back(step);
  }
  if (fresh.log.count() == 0) return;
  // The layers of a network repeat before its first iteration has come round; iterations of another phase
  // come before it altogether.
  const bool longer =
      followed && followed->lane == lane &&
      static_cast<double>(size) > kHoldsOthers * static_cast<double>(followed->found.pattern.size());
  if (longer && !steps.empty() && !waiting.empty() &&
      steps.front().at - waiting.front().begin < kWithin * fresh.log.period().value_or(Seconds(0)))
    unsay();
  followed = std::move(fresh);
  silent_cycles = 0;
  for (const FollowedStep& step : steps) take(step);
  review_at = 0;
  fitted_before_cycle = 0;
}

void KernelSequence::Impl::search() {
  searched_at = launches;
  const std::int32_t busiest = history.busiest_process();
  if (process && *process != busiest) followed.reset();
  process = busiest;
  process_now = history.latest(busiest).value_or(now);
  auto best = search_from(TimePoint{INT64_MIN});
  if (followed && !followed->recognised() && !(best && best->second.in_all)) {
    // The pattern is not seen any more: what came since may replace it once that has lasted, as an evaluation
    // does not.
    const TimePoint from = followed->log.last_end().value_or(now);
    const Seconds seen = followed->log.covered();
    if (now - from < std::min(seen, std::max(kOtherPhase, seen * 0.1))) return;
    best = search_from(from);
  }
  failures = best ? 0 : failures + 1;
  if (best) adopt(best->first, std::move(best->second));
  if (!best && followed && followed->found.sameness == Sameness::anchors) {  // it was chance
    followed.reset();
    unsay();
  }
}

// The process's busiest stream that has a pattern.
std::optional<std::pair<Lane, FoundPattern>> KernelSequence::Impl::search_from(TimePoint from) {
  const std::vector<Lane> lanes = history.lanes_of(*process);
  // After many searches in vain, mostly the latest launches only.
  const bool in_vain = failures >= kManyFailures && failures % kManyFailures != 0;
  const std::size_t most = in_vain ? kFewLaunches : LaunchHistory::kMostLaunches;
  std::optional<std::pair<Lane, FoundPattern>> best;
  for (std::size_t i = 0; i < std::min(kMostStreams, lanes.size()); ++i) {
    const std::vector<Launch> stretch = history.stretch(lanes[i], from, most);
    if (i == 0 && !stretch.empty()) {
      none_launches = stretch.size();
      none_stretch = stretch.back().begin - stretch.front().begin;
      none_equal =
          std::ranges::all_of(stretch, [&](const Launch& l) { return l.token == stretch.front().token; });
    }
    auto found = find_pattern(stretch, table);
    if (!found) continue;
    const bool sure = found->sameness != Sameness::anchors;
    if (!best || sure) best.emplace(lanes[i], std::move(*found));
    if (sure) break;
  }
  return best;
}

// When to look at everything again: often while little is known, hardly ever when a pattern goes on and on.
void KernelSequence::Impl::review() {
  bool due = launches >= search_at || (launches % kProcessLook == 0 && left_behind());
  if (followed && !followed->recognised()) {
    if (review_at == 0) review_at = followed->since_whole + 512;
    if (followed->since_whole >= review_at) {
      due = true;
      review_at = followed->since_whole + followed->since_whole / 2;
    }
  } else {
    review_at = 0;
  }
  if (!due) return;
  search();
  search_at = launches + std::max(launches / 2, kFirstSearch);
  if (!followed) search_at = std::min(search_at, launches + 4 * LaunchHistory::kMostLaunches);
}

std::string KernelSequence::Impl::reason() const {
  const FoundPattern& f = followed->found;
  std::string why = cat(followed->launches, " launches repeat, seen whole ", followed->log.count(), " times");
  if (f.pattern.size() == 1) why += "; each is one CUDA graph";
  if (f.micro_batches > 1) why += cat("; ", f.micro_batches, " micro-batches and a step");
  if (f.sameness == Sameness::name) why += "; the grids of some follow the data";
  if (f.sameness == Sameness::anchors) why += "; only some of them come every time, the number is a median";
  if (history.processes() > 1)
    why += cat("; process ", *process, " alone, with ", number(100 * history.share(*process), 0),
               " % of the kernel time");
  if (silent_cycles > 0)
    why += cat("; no whole iteration in the latest cycle, which held ", number(best_fraction, 2), " of one");
  if (!followed->recognised()) why += "; what runs now is something else";
  return why;
}

std::optional<IterationEstimate> KernelSequence::Impl::estimate() const {
  IterationEstimate e;
  e.at = process_now;
  e.source = ProgressSource::kernels;
  const auto period = followed ? followed->log.period() : std::nullopt;
  if (period && period->value() > 0) {
    e.periodic = true;
    e.period = period;
    e.launches = followed->launches;
    e.half_width = followed->log.half_width();
    e.drift_per_minute = followed->log.drift_per_minute();
    e.confidence = followed->confidence(silent_cycles);
    e.why = reason();
    return e;
  }
  if (none_launches < kFirstSearch) return std::nullopt;
  e.confidence = confidence_in_none(none_launches, none_stretch, none_equal);
  e.why = none_equal ? std::string("one kernel over and over: a launch is no iteration")
                     : cat("nothing repeats in ", none_launches, " launches in ", none_stretch,
                           " without a break; an iteration may be longer than that");
  return e;
}

KernelSequence::KernelSequence() : impl_(std::make_unique<Impl>()) {}
KernelSequence::~KernelSequence() = default;
KernelSequence::KernelSequence(KernelSequence&&) noexcept = default;
KernelSequence& KernelSequence::operator=(KernelSequence&&) noexcept = default;

void KernelSequence::add(const KernelRecord& record) {
  Impl& s = *impl_;
  const auto lane = s.use(record) ? s.history.lane(record) : std::nullopt;
  if (!lane) {
    ++s.dropped;
    return;
  }
  if (record.lost_before > kSmallLoss) {
    s.history.break_off(record.pid);
    if (s.followed && s.followed->pid == record.pid) s.followed->cutter.lose();
  }
  s.history.add(*lane, record, s.table.token(record));
  s.now = std::max(s.now, record.begin);
  if (s.process == record.pid) s.process_now = std::max(s.process_now, record.begin);
  ++s.launches;
  ++s.launches_in_cycle;
  if (!s.process || *s.process == record.pid) s.rate.add(record.begin);
  if (s.followed) {
    const auto& entry = s.history.entries().back();
    s.take(s.followed->follow(s.history, s.table, entry));
  }
  s.review();
}

void KernelSequence::cycle_ended(TimePoint end, std::int32_t pid) {
  Impl& s = *impl_;
  if (!s.history.knows(pid)) return;
  s.now = std::max(s.now, end);
  if (s.launches_in_cycle > 0 && (!s.followed || s.left_behind())) s.search();
  s.launches_in_cycle = 0;
  s.history.cycle_ended(pid, end);
  if (s.process != pid) return;
  s.process_now = std::max(s.process_now, end);
  if (s.followed) {
    const std::uint64_t fitted =
        s.followed->cutter.fitted() - std::min(s.fitted_before_cycle, s.followed->cutter.fitted());
    s.best_fraction = static_cast<double>(fitted) / static_cast<double>(s.followed->found.pattern.size());
    s.silent_cycles = s.whole_in_cycle > 0 ? 0 : s.silent_cycles + 1;
    s.fitted_before_cycle = s.followed->cutter.fitted();
    s.followed->cutter.lose();
  }
  s.whole_in_cycle = 0;
  s.rate.cycle_ended();
}

std::optional<IterationEstimate> KernelSequence::estimate() const {
  // What came since the last search may have been enough.
  Impl& s = *impl_;
  if (!s.followed && s.launches >= kFirstSearch && s.launches - s.searched_at > s.searched_at / 4) s.search();
  return s.estimate();
}

std::vector<Iteration> KernelSequence::take_iterations() {
  impl_->taken_until = impl_->told_until;
  impl_->taken_index = impl_->next_index;
  return std::exchange(impl_->waiting, {});
}

std::optional<ProgressRate> KernelSequence::rate() const {
  return impl_->rate.rate();
}

std::uint64_t KernelSequence::dropped() const {
  return impl_->dropped;
}

}  // namespace rubato::progress
