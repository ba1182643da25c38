#include "conduct/kernel_reader.h"

#include <rubato/kernel_layout.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

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
// More kernels than this are told before their cycles have ended, in whatever order they are.
constexpr std::size_t kMostHeld = 1U << 20;
// A process that said nothing inside a cycle for so long hangs or was killed.
constexpr Seconds kSilent{10};

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

void KernelReader::release(Open& open) {
  held_ -= open.held.size();
  news_.kernels.insert(news_.kernels.end(), open.held.begin(), open.held.end());
  open.held.clear();
}

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
      const KernelRecord kernel = kernel_of(r, owner, lost);
      if (open == open_.end()) {
        news_.kernels.push_back(kernel);
        break;
      }
      open->second.held.push_back(kernel);
      ++held_;
      open->second.cycle.end = std::max(open->second.cycle.end, end);
      open->second.last_begin = std::max(open->second.last_begin, begin);
      break;
    }
    case RUBATO_KERNEL_CYCLE_BEGIN:
      if (open != open_.end()) release(open->second);
      if (open != open_.end() || open_.size() < kMostProcesses)
        open_[owner.pid] = {{.begin = begin, .end = end, .pid = owner.pid}, now, begin, {}};
      break;
    case RUBATO_KERNEL_CYCLE_END:
      news_.cycles.push_back({.begin = begin, .end = end, .pid = owner.pid, .lost = r.lost});
      if (open != open_.end()) {
        // Switching off takes CUPTI up to 25 ms, in which it goes on recording (H200).
        news_.cycles.back().end = std::max(end, open->second.last_begin);
        release(open->second);
        open_.erase(open);
      }
      break;
    default:  // copies, and what later versions add
      break;
  }
}

void KernelReader::read(TimePoint now) {
  folder_.poll(now, [&](const RingOwner& owner, std::span<const std::byte> bytes, std::uint64_t lost_before) {
    take(owner, bytes, lost_before, now);
  });
}

KernelNews KernelReader::take_news() {
  KernelNews news = std::exchange(news_, {});
  std::ranges::stable_sort(news.kernels, {}, &KernelRecord::begin);
  std::ranges::stable_sort(news.cycles, {}, &record::KernelCycle::end);
  return news;
}

KernelNews KernelReader::poll(TimePoint now) {
  read(now);
  const bool too_many = held_ > kMostHeld;
  for (auto& [pid, open] : open_)
    if (too_many || now - open.heard >= kSilent) release(open);
  return take_news();
}

KernelNews KernelReader::finish(TimePoint now) {
  folder_.look_anew();
  read(now);
  for (auto& [pid, open] : open_) {
    release(open);
    news_.cycles.push_back(open.cycle);
  }
  open_.clear();
  return take_news();
}

}  // namespace rubato::conduct
