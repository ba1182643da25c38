#include "progress/kernels/launch_history.h"

#include <algorithm>
#include <utility>

namespace rubato::progress::kernels {
namespace {

std::uint64_t key_of(std::int32_t pid, std::uint32_t stream) {
  return (std::uint64_t{static_cast<std::uint32_t>(pid)} << 32U) | stream;
}

// So many records in a row that are older than the newest: the newest was wrong.
constexpr unsigned kMostRefused = 64;
constexpr double kClearlyMore = 1.5;
// Kernel time counts for this much less after each cycle, or after so many launches without one: a process
// that has ended is left after a few. Of two that are as busy and told of in turns the one is never clearly
// more.
constexpr double kFade = 0.8;
constexpr std::uint64_t kLongCycle = LaunchHistory::kMostLaunches / 4;
// A stream that was not seen for so many records may make room for a new one.
constexpr std::uint64_t kLeft = 1U << 14;

}  // namespace

std::optional<Lane> LaunchHistory::new_lane(const KernelRecord& r) {
  std::size_t free = lanes_.size();
  if (free < kMostLanes) {
    lanes_.emplace_back();
  } else {
    const auto oldest = std::ranges::min_element(lanes_, {}, &Stream::seen);
    if (oldest->held > 0 && seen_ - oldest->seen < kLeft) return std::nullopt;
    while (oldest->held > 0) forget_oldest();
    lane_of_.erase(key_of(oldest->pid, oldest->stream));
    free = static_cast<std::size_t>(oldest - lanes_.begin());
  }
  lanes_[free] = {.pid = r.pid, .stream = r.stream};
  lane_of_.emplace(key_of(r.pid, r.stream), static_cast<Lane>(free));
  return static_cast<Lane>(free);
}

std::optional<Lane> LaunchHistory::lane(const KernelRecord& r) {
  if (r.end < r.begin) return std::nullopt;
  ++seen_;
  std::optional<Lane> found;
  if (last_lane_ && lanes_[*last_lane_].pid == r.pid && lanes_[*last_lane_].stream == r.stream) {
    found = last_lane_;
  } else {
    const auto at = lane_of_.find(key_of(r.pid, r.stream));
    found = at != lane_of_.end() ? at->second : new_lane(r);
    if (!found) return std::nullopt;
  }
  Stream& stream = lanes_[*found];
  if (r.begin < stream.latest) {
    if (++stream.refused < kMostRefused) return std::nullopt;
    break_off(r.pid);
  }
  stream.refused = 0;
  stream.seen = seen_;
  stream.latest = r.begin;
  last_lane_ = found;
  return found;
}

void LaunchHistory::add(Lane lane, const KernelRecord& r, Token token) {
  Stream& stream = lanes_[lane];
  if (std::exchange(stream.broken, false)) ++stream.run;
  const std::int64_t lasts = std::min<std::int64_t>(r.end.ns - r.begin.ns, UINT32_MAX);
  entries_.push_back({.begin = r.begin,
                      .lasts_ns = static_cast<std::uint32_t>(lasts),
                      .token = token,
                      .lane = lane,
                      .run = stream.run});
  ++stream.held;
  Process& process = processes_[r.pid];
  ++process.held;
  process.busy += static_cast<double>(lasts) * 1e-9;
  process.latest = std::max(process.latest, r.begin);
  if (++since_fade_ >= kLongCycle) fade();
  if (entries_.size() > kMostLaunches) forget_oldest();
}

void LaunchHistory::forget_oldest() {
  Stream& stream = lanes_[entries_.front().lane];
  entries_.pop_front();
  --stream.held;
  const auto process = processes_.find(stream.pid);
  if (--process->second.held == 0) processes_.erase(process);
}

void LaunchHistory::break_off(std::int32_t pid) {
  for (Stream& stream : lanes_)
    if (stream.pid == pid) stream.broken = true;
}

// Every process tells of its own cycles: a round is over once one tells of its second.
void LaunchHistory::cycle_ended(std::int32_t pid, TimePoint end) {
  break_off(pid);
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return;
  if (process->second.cycle_over) fade();
  process->second.cycle_over = true;
  process->second.latest = std::max(process->second.latest, end);
}

void LaunchHistory::fade() {
  since_fade_ = 0;
  for (auto& [pid, process] : processes_) {
    process.busy *= kFade;
    process.cycle_over = false;
  }
}

std::int32_t LaunchHistory::busiest_process() {
  std::optional<std::int32_t> best;
  double most = 0;
  for (const auto& [pid, process] : processes_) {
    if (best && (process.busy < most || (process.busy == most && pid > *best))) continue;
    best = pid;
    most = process.busy;
  }
  if (!best) return 0;
  const auto before = busiest_ ? processes_.find(*busiest_) : processes_.end();
  if (before == processes_.end() || most > kClearlyMore * before->second.busy) busiest_ = best;
  return *busiest_;
}

std::optional<TimePoint> LaunchHistory::latest(std::int32_t pid) const {
  const auto at = processes_.find(pid);
  return at == processes_.end() ? std::nullopt : std::optional(at->second.latest);
}

double LaunchHistory::share(std::int32_t pid) const {
  double all = 0;
  for (const auto& [one, process] : processes_) all += process.busy;
  const auto at = processes_.find(pid);
  return at == processes_.end() || all <= 0 ? 1 : at->second.busy / all;
}

std::vector<Lane> LaunchHistory::lanes_of(std::int32_t pid) const {
  std::vector<Lane> own;
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    if (lanes_[i].pid == pid && lanes_[i].held > 0) own.push_back(static_cast<Lane>(i));
  std::ranges::stable_sort(own, [&](Lane a, Lane b) { return lanes_[a].held > lanes_[b].held; });
  return own;
}

std::vector<Launch> LaunchHistory::stretch(Lane lane, TimePoint from, std::size_t most) const {
  std::size_t longest = 0;
  std::uint16_t chosen = 0;
  std::size_t size = 0;
  const auto consider = [&](std::uint16_t run) {
    if (size == 0) return;
    longest = std::max(longest, size);
    if (3 * size >= 2 * longest) chosen = run;
  };
  std::uint16_t run = 0;
  for (const Entry& e : entries_) {
    if (e.lane != lane || e.begin < from) continue;
    if (e.run != run) {
      consider(run);
      run = e.run;
      size = 0;
    }
    ++size;
  }
  consider(run);
  std::vector<Launch> out;
  for (const Entry& e : entries_)
    if (e.lane == lane && e.run == chosen && e.begin >= from)
      out.push_back({.begin = e.begin, .end = e.end(), .token = e.token});
  if (out.size() > most) out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(most));
  return out;
}

}  // namespace rubato::progress::kernels
