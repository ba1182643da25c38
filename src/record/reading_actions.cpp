// What was done and decided, the stretches it was judged by, and what is missing.
#include <algorithm>

#include "record/schema.h"
#include "record/tables.h"

namespace rubato::record {
namespace {

// Before version 4 the words alone told that a gap was a meter's: "meter NAME …".
std::optional<std::size_t> channel_in_words(const RunRecord& run, std::string_view why) {
  for (std::size_t i = 0; i < run.channels.size(); ++i)
    if (why.starts_with(cat("meter ", run.channels[i].info.meter))) return i;
  return std::nullopt;
}

void read_gaps(Tables& t) {
  t.read.each(cat("SELECT begin_ns,end_ns,device_id,why,", t.version < 4 ? "NULL" : "channel_id",
                  " FROM gap ORDER BY begin_ns,rowid"),
              [&t](Statement& row) {
                Gap& g = t.out.gaps.emplace_back();
                g.begin = row.time();
                g.end = row.time();
                g.gpu = t.optional_gpu(row);
                g.why = row.text();
                if (const auto id = row.optional_integer()) g.channel = t.channel(*id);
                if (t.version < 4 && !g.gpu) g.channel = channel_in_words(t.out, g.why);
              });
}

}  // namespace

void read_actions(Tables& t) {
  t.read.each("SELECT at_ns,device_id,counter_j,was_reset FROM counter_edge ORDER BY at_ns",
              [&t](Statement& row) {
                const TimePoint at = row.time();
                DeviceRecord* of = t.device(row.integer());
                if (of == nullptr) return;
                const auto counter = row.quantity<Joules>();
                of->counter_edges.push_back({at, of->info.identity.id, counter, row.integer() != 0});
              });
  t.read.each(cat("SELECT role,device_id,", setting_columns(""), ",begin_ns,end_ns,iterations,",
                  kEnergyColumns, " FROM window ORDER BY begin_ns,rowid"),
              [&t](Statement& row) {
                Block& b = t.out.blocks.emplace_back();
                b.role = t.read.checked(parse_block_role(row.text()), BlockRole::hold);
                b.gpu = t.gpu(row.integer());
                b.setting = row.setting();
                b.begin = row.time();
                b.end = row.time();
                b.iterations = row.integer();
                b.energy = t.energy(row);
              });
  t.read.each(
      cat("SELECT at_ns,device_id,who,", setting_columns("asked_"), ",", setting_columns("requested_"),
          ",enforced_w,reached_sm_clock_mhz,outcome FROM setting_change ORDER BY at_ns,rowid"),
      [&t](Statement& row) {
        SettingChange& c = t.out.setting_changes.emplace_back();
        c.at = row.time();
        c.gpu = t.gpu(row.integer());
        c.who = row.text();
        c.asked = row.setting();
        c.requested = row.setting();
        c.enforced = row.optional_quantity<Watts>();
        c.reached_sm_clock = row.optional_quantity<Megahertz>();
        c.outcome = row.text();
      });
  t.read.each(cat("SELECT at_ns,action,", setting_columns(""), ",why FROM decision ORDER BY at_ns,rowid"),
              [&t](Statement& row) {
                Decision& d = t.out.decisions.emplace_back();
                d.at = row.time();
                d.action = row.text();
                d.setting = row.setting();
                d.why = row.text();
              });
  read_gaps(t);
}

}  // namespace rubato::record
