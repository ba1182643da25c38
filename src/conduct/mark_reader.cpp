#include "conduct/mark_reader.h"

#include <rubato/mark_layout.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace rubato::conduct {
namespace {

constexpr RingKind kMarks{.what = "mark",
                          .extension = ".ring",
                          .magic = RUBATO_MARK_MAGIC,
                          .version = RUBATO_MARK_VERSION,
                          .record_size = sizeof(rubato_mark_record),
                          .most_records = 1U << 20};  // 64 MiB

}  // namespace

MarkReader::MarkReader(std::filesystem::path directory, MarkReaderOptions options)
    : options_(options),
      folder_(std::move(directory), kMarks, {.rescan = options.rescan, .most_rings = options.most_rings}) {}

std::vector<Mark> MarkReader::poll(TimePoint now) {
  std::vector<Mark> marks;
  folder_.poll(now, [&](const RingOwner& owner, std::span<const std::byte> bytes, std::uint64_t) {
    rubato_mark_record r{};
    std::memcpy(&r, bytes.data(), sizeof r);
    const TimePoint at{r.monotonic_ns};
    if (at > now + options_.future || at < options_.begin - options_.before) {
      ++implausible_;
      return;
    }
    marks.push_back({at, r.kind, r.flags, r.id, std::to_array(r.detail), owner.pid, owner.tid, owner.rank});
  });
  std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.at < b.at; });
  return marks;
}

std::vector<Mark> MarkReader::finish(TimePoint now) {
  folder_.look_anew();
  return poll(now);
}

}  // namespace rubato::conduct
