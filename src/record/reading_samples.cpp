// Samples of the GPUs and of the meters.
#include "record/chunk.h"
#include "record/tables.h"

namespace rubato::record {
namespace {

template <class Sample>
void append(Tables& t, std::vector<Sample>& to, Result<std::vector<Sample>> chunk) {
  if (!chunk) return t.read.corrupt(chunk.error().what);
  to.insert(to.end(), chunk->begin(), chunk->end());
}

ChunkHead head_of(Statement& row) {
  ChunkHead head;
  head.layout = row.integer();
  head.begin = row.time();
  head.samples = static_cast<std::size_t>(row.integer());
  return head;
}

// Version 1 kept what was in no chunk yet as plain rows in a table of its own.
void read_open_rows(Tables& t) {
  t.read.each(
      "SELECT device_id,kind,at_ns,power_w,energy_counter_j,sm_clock_mhz,memory_clock_mhz,"
      "sm_utilisation_fraction,memory_utilisation_fraction,temperature_c,limiter_bits,requested_limit_w,"
      "enforced_limit_w FROM sample_open ORDER BY at_ns",
      [&t](Statement& row) {
        DeviceRecord* of = t.device(row.integer());
        if (of == nullptr) return;
        const bool fast = row.text() == "fast";
        const TimePoint at = row.time();
        const auto power = row.optional_quantity<Watts>();
        const auto counter = row.optional_quantity<Joules>();
        if (fast) {
          of->fast.push_back({at, power, counter});
          return;
        }
        SlowReading& s = of->slow.emplace_back();
        s.at = at;
        s.sm_clock = row.optional_quantity<Megahertz>();
        s.memory_clock = row.optional_quantity<Megahertz>();
        s.sm_utilisation = row.optional_real();
        s.memory_utilisation = row.optional_real();
        s.temperature = row.optional_quantity<Celsius>();
        if (const auto bits = row.optional_integer()) s.limiter = limiter_from_bits(*bits);
        s.requested_limit = row.optional_quantity<Watts>();
        s.enforced_limit = row.optional_quantity<Watts>();
      });
}

}  // namespace

void read_samples(Tables& t) {
  t.read.each("SELECT device_id,kind,layout,begin_ns,samples,data FROM sample_chunk ORDER BY begin_ns,rowid",
              [&t](Statement& row) {
                DeviceRecord* of = t.device(row.integer());
                const std::string kind = row.text();
                const ChunkHead head = head_of(row);
                const std::string blob = row.text();
                if (of == nullptr) return;
                if (kind == "fast")
                  append(t, of->fast, decode_fast_chunk(head, blob));
                else
                  append(t, of->slow, decode_slow_chunk(head, blob));
              });
  if (t.version == 1) read_open_rows(t);
  if (t.version < 3) return;
  t.read.each("SELECT channel_id,layout,begin_ns,samples,data FROM channel_chunk ORDER BY begin_ns,rowid",
              [&t](Statement& row) {
                const auto of = t.channel(row.integer());
                const ChunkHead head = head_of(row);
                const std::string blob = row.text();
                if (of) append(t, t.out.channels[*of].readings, decode_fast_chunk(head, blob));
              });
}

}  // namespace rubato::record
