#include "progress/kernels/launch_history.h"

#include <algorithm>
#include <array>

namespace rubato::progress::kernels {
namespace {

// So many records in a row that are older than the newest: the newest was wrong.
constexpr unsigned kMostRefused = 64;
constexpr double kClearlyMore = 1.5;

}  // namespace

std::optional<Lane> LaunchHistory::lane(const KernelRecord& r) {
  if (r.end < r.begin) return std::nullopt;
  std::optional<Lane> found;
  if (last_lane_ && lanes_[*last_lane_].pid == r.pid && lanes_[*last_lane_].stream == r.stream) {
    found = last_lane_;
  } else {
    const std::uint64_t key = (std::uint64_t{static_cast<std::uint32_t>(r.pid)} << 32U) | r.stream;
    const auto at = lane_of_.find(key);
    if (at != lane_of_.end()) {
      found = at->second;
    } else {
      if (lanes_.size() >= kMostLanes) return std::nullopt;
      found = static_cast<Lane>(lanes_.size());
      lanes_.push_back({.pid = r.pid, .stream = r.stream});
      lane_of_.emplace(key, *found);
    }
  }
  Stream& stream = lanes_[*found];
  if (r.begin < stream.latest) {
    if (++stream.refused < kMostRefused) return std::nullopt;
    break_off();
  }
  stream.refused = 0;
  stream.latest = r.begin;
  last_lane_ = found;
  return found;
}

void LaunchHistory::add(Lane lane, const KernelRecord& r, Token token) {
  if (broken_) ++run_;
  broken_ = false;
  const std::int64_t lasts = std::min<std::int64_t>(r.end.ns - r.begin.ns, UINT32_MAX);
  entries_.push_back({.begin = r.begin,
                      .lasts_ns = static_cast<std::uint32_t>(lasts),
                      .token = token,
                      .lane = lane,
                      .run = run_});
  if (entries_.size() > kMostLaunches) entries_.pop_front();
  const auto at = busy_.find(r.pid);
  if (at != busy_.end()) {
    at->second += static_cast<double>(lasts) * 1e-9;
  } else if (busy_.size() < kMostProcesses) {
    busy_.emplace(r.pid, static_cast<double>(lasts) * 1e-9);
  }
}

std::int32_t LaunchHistory::busiest_process() {
  std::optional<std::int32_t> best;
  for (const auto& [pid, busy] : busy_)
    if (!best || busy > busy_.at(*best) || (busy == busy_.at(*best) && pid < *best)) best = pid;
  if (!best) return 0;
  if (!busiest_ || busy_.at(*best) > kClearlyMore * busy_.at(*busiest_)) busiest_ = best;
  return *busiest_;
}

double LaunchHistory::share(std::int32_t pid) const {
  double all = 0;
  for (const auto& [one, busy] : busy_) all += busy;
  const auto at = busy_.find(pid);
  return at == busy_.end() || all <= 0 ? 1 : at->second / all;
}

std::vector<Lane> LaunchHistory::lanes_of(std::int32_t pid) const {
  std::array<std::size_t, kMostLanes> launches{};
  for (const Entry& e : entries_) ++launches[e.lane];
  std::vector<Lane> own;
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    if (lanes_[i].pid == pid && launches[i] > 0) own.push_back(static_cast<Lane>(i));
  std::ranges::stable_sort(own, [&](Lane a, Lane b) { return launches[a] > launches[b]; });
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
