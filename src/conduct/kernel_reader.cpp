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
                        TimePoint now, KernelNews& news) {
  rubato_kernel_record r{};
  std::memcpy(&r, bytes.data(), sizeof r);
  const TimePoint begin{r.begin_ns};
  const TimePoint end{r.end_ns};
  if (begin > end || end > now + options_.future || begin < options_.begin - options_.before) {
    ++implausible_;
    return;
  }
  const auto open = open_.find(owner.pid);
  switch (r.kind) {
    case RUBATO_KERNEL_RUN:
    case RUBATO_KERNEL_GRAPH: {
      // Two numbers from somebody else's file: their sum must not wrap.
      const std::uint64_t lost = r.lost < UINT64_MAX - lost_before ? r.lost + lost_before : UINT64_MAX;
      news.kernels.push_back(kernel_of(r, owner, lost));
      if (open != open_.end()) open->second.end = std::max(open->second.end, end);
      break;
    }
    case RUBATO_KERNEL_CYCLE_BEGIN:
      if (open != open_.end() || open_.size() < kMostProcesses)
        open_[owner.pid] = {.begin = begin, .end = end, .pid = owner.pid};
      break;
    case RUBATO_KERNEL_CYCLE_END:
      news.cycles.push_back({.begin = begin, .end = end, .pid = owner.pid, .lost = r.lost});
      if (open != open_.end()) open_.erase(open);
      break;
    default:  // copies, and what later versions add
      break;
  }
}

KernelNews KernelReader::poll(TimePoint now) {
  KernelNews news;
  folder_.poll(now, [&](const RingOwner& owner, std::span<const std::byte> bytes, std::uint64_t lost_before) {
    take(owner, bytes, lost_before, now, news);
  });
  std::stable_sort(news.kernels.begin(), news.kernels.end(),
                   [](const KernelRecord& a, const KernelRecord& b) { return a.begin < b.begin; });
  return news;
}

KernelNews KernelReader::finish(TimePoint now) {
  KernelNews news = poll(now);
  for (const auto& [pid, cycle] : open_) news.cycles.push_back(cycle);
  open_.clear();
  return news;
}

}  // namespace rubato::conduct
