// What the job said and ran: marks, names, kernels.
#include <algorithm>

#include "record/kernel_chunk.h"
#include "record/tables.h"

namespace rubato::record {
namespace {

std::uint64_t bits(Statement& row) {
  return static_cast<std::uint64_t>(row.integer());
}

void read_marks(Tables& t) {
  t.read.each(cat("SELECT at_ns,kind,flags,mark_id,pid,tid,rank,",
                  t.version < 3 ? "0,0,0,0" : "detail_0,detail_1,detail_2,detail_3",
                  " FROM mark ORDER BY at_ns,rowid"),
              [&t](Statement& row) {
                Mark& m = t.out.marks.emplace_back();
                m.at = row.time();
                m.kind = static_cast<std::uint32_t>(row.integer());
                m.flags = static_cast<std::uint32_t>(row.integer());
                m.id = bits(row);
                m.pid = static_cast<std::int32_t>(row.integer());
                m.tid = static_cast<std::int32_t>(row.integer());
                m.rank = static_cast<std::int32_t>(row.integer());
                for (std::uint64_t& word : m.detail) word = bits(row);
              });
}

void read_kernels(Tables& t) {
  std::vector<KernelRecord>& out = t.out.kernels;
  t.read.each("SELECT layout,begin_ns,kernels,data FROM kernel_chunk ORDER BY rowid", [&](Statement& row) {
    const std::int64_t layout = row.integer();
    const TimePoint begin = row.time();
    const auto count = static_cast<std::size_t>(row.integer());
    const auto kernels = decode_kernels(layout, begin, count, row.text());
    if (!kernels) return t.read.corrupt(kernels.error().what);
    out.insert(out.end(), kernels->begin(), kernels->end());
  });
  std::stable_sort(out.begin(), out.end(),
                   [](const KernelRecord& a, const KernelRecord& b) { return a.begin < b.begin; });
  t.read.each("SELECT begin_ns,end_ns,pid,lost FROM kernel_cycle ORDER BY begin_ns,rowid",
              [&t](Statement& row) {
                KernelCycle& c = t.out.kernel_cycles.emplace_back();
                c.begin = row.time();
                c.end = row.time();
                c.pid = static_cast<std::int32_t>(row.integer());
                c.lost = bits(row);
              });
}

}  // namespace

void read_progress(Tables& t) {
  read_marks(t);
  if (t.version < 3) return;
  t.read.each("SELECT id,text FROM name", [&t](Statement& row) {
    const std::uint64_t id = bits(row);
    t.out.names[id] = row.text();
  });
  read_kernels(t);
}

}  // namespace rubato::record
