#include "conduct/kernel_reader.h"

#include <rubato/kernel_layout.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace rubato::conduct {
namespace {

constexpr RingKind kKernels{.what = "kernel",
                            .extension = ".kernels",
                            .magic = RUBATO_KERNEL_MAGIC,
                            .version = RUBATO_KERNEL_VERSION,
                            .record_size = sizeof(rubato_kernel_record),
                            .most_records = 1U << 19};  // 64 MiB
// Of open cycles: what a job writes must not fill our memory.
constexpr std::size_t kMostProcesses = 4096;
// More kernels than this are told before their cycle ended, in whatever order they are.
constexpr std::size_t kMostHeld = 1U << 20;
// A cycle that said nothing for so long is that of a process that hangs or was killed; others do not wait for
// it.
constexpr Seconds kHeardWithin{10};

KernelRecord kernel_of(const rubato_kernel_record& r, const RingOwner& owner, std::uint64_t lost_before) {
  return {.begin = TimePoint{r.begin_ns},
          .end = TimePoint{r.end_ns},
          .name_hash = r.name_hash,
          .grid = std::to_array(r.grid),
          .block = std::to_array(r.block),
          .stream = r.stream,
          .graph = r.graph,
          .layer = r.layer,
          .pid = owner.pid,
          .device_uuid = std::to_array(r.device_uuid),
          .lost_before = lost_before};
}

}  // namespace

KernelReader::KernelReader(std::filesystem::path directory, KernelReaderOptions options)
    : options_(options),
      folder_(std::move(directory), kKernels, {.rescan = options.rescan, .most_rings = options.most_rings}) {}

void KernelReader::take(const RingOwner& owner, std::span<const std::byte> bytes, std::uint64_t lost_before,
                        TimePoint now) {
  rubato_kernel_record r{};
  std::memcpy(&r, bytes.data(), sizeof r);
  const TimePoint begin{r.begin_ns};
  const TimePoint end{r.end_ns};
  if (begin > end || end > now + options_.future || begin < options_.begin - options_.before) {
    ++implausible_;
    return;
  }
  const auto open = open_.find(owner.pid);
  if (open != open_.end()) open->second.heard = now;
  switch (r.kind) {
    case RUBATO_KERNEL_RUN:
    case RUBATO_KERNEL_GRAPH: {
      // Two numbers from somebody else's file: their sum must not wrap.
      const std::uint64_t lost = r.lost < UINT64_MAX - lost_before ? r.lost + lost_before : UINT64_MAX;
      held_.kernels.push_back(kernel_of(r, owner, lost));
      if (open != open_.end()) {
        open->second.cycle.end = std::max(open->second.cycle.end, end);
        open->second.last_begin = std::max(open->second.last_begin, begin);
      }
      break;
    }
    case RUBATO_KERNEL_CYCLE_BEGIN:
      if (open != open_.end() || open_.size() < kMostProcesses)
        open_[owner.pid] = {{.begin = begin, .end = end, .pid = owner.pid}, now, begin};
      break;
    case RUBATO_KERNEL_CYCLE_END:
      held_.cycles.push_back({.begin = begin, .end = end, .pid = owner.pid, .lost = r.lost});
      if (open != open_.end()) {
        // Switching off takes CUPTI up to 25 ms, in which it goes on recording (H200).
        held_.cycles.back().end = std::max(end, open->second.last_begin);
        open_.erase(open);
      }
      break;
    default:  // copies, and what later versions add
      break;
  }
}

KernelNews KernelReader::ready(TimePoint now, bool last) {
  TimePoint until{INT64_MAX};
  if (!last && held_.kernels.size() < kMostHeld)
    for (const auto& [pid, open] : open_)
      if (now - open.heard < kHeardWithin) until = std::min(until, open.cycle.begin);
  KernelNews news;
  const auto is_ready = [&](const KernelRecord& k) { return k.begin < until; };
  const auto kept = std::stable_partition(held_.kernels.begin(), held_.kernels.end(), is_ready);
  news.kernels.assign(held_.kernels.begin(), kept);
  held_.kernels.erase(held_.kernels.begin(), kept);
  std::stable_sort(news.kernels.begin(), news.kernels.end(),
                   [](const KernelRecord& a, const KernelRecord& b) { return a.begin < b.begin; });
  const auto open_still = std::stable_partition(held_.cycles.begin(), held_.cycles.end(),
                                                [&](const record::KernelCycle& c) { return c.end < until; });
  news.cycles.assign(held_.cycles.begin(), open_still);
  held_.cycles.erase(held_.cycles.begin(), open_still);
  return news;
}

KernelNews KernelReader::poll(TimePoint now) {
  folder_.poll(now, [&](const RingOwner& owner, std::span<const std::byte> bytes, std::uint64_t lost_before) {
    take(owner, bytes, lost_before, now);
  });
  return ready(now, false);
}

KernelNews KernelReader::finish(TimePoint now) {
  folder_.poll(now, [&](const RingOwner& owner, std::span<const std::byte> bytes, std::uint64_t lost_before) {
    take(owner, bytes, lost_before, now);
  });
  for (const auto& [pid, open] : open_) held_.cycles.push_back(open.cycle);
  open_.clear();
  return ready(now, true);
}

}  // namespace rubato::conduct
