// How the run ended, for each GPU and each channel.
#include "record/schema.h"
#include "record/tables.h"

namespace rubato::record {
namespace {

void read_run_end(Tables& t) {
  t.read.each(
      "SELECT end_ns,exit_code,exit_signal,driver_calls,driver_inside_s,cpu_s,bytes_written,ticks FROM "
      "run_end",
      [&t](Statement& row) {
        RunEnd& end = t.out.end.emplace();
        end.end = row.time();
        if (const auto code = row.optional_integer()) end.exit_code = static_cast<int>(*code);
        if (const auto signal = row.optional_integer()) end.exit_signal = static_cast<int>(*signal);
        end.cost.driver.calls = static_cast<std::uint64_t>(row.integer());
        end.cost.driver.inside = row.quantity<Seconds>();
        end.cost.cpu = row.quantity<Seconds>();
        end.cost.bytes_written = static_cast<std::uint64_t>(row.integer());
        end.cost.ticks = static_cast<std::uint64_t>(row.integer());
      });
}

std::optional<Setting> known_setting(Statement& row) {
  const bool known = row.integer() != 0;
  const Setting setting = row.setting();
  return known ? std::optional(setting) : std::nullopt;
}

void read_device_ends(Tables& t) {
  t.read.each(cat("SELECT device_id,", kEnergyColumns, ",found_known,", setting_columns("found_"),
                  ",requested_known,", setting_columns("requested_"), ",restoration,restoration_detail",
                  t.version < 3 ? ",NULL" : ",used_by_job", " FROM device_end ORDER BY rowid"),
              [&t](Statement& row) {
                DeviceEnd& d = t.out.end->devices.emplace_back();
                d.gpu = t.gpu(row.integer());
                d.energy = t.energy(row);
                d.found = known_setting(row);
                d.requested = known_setting(row);
                d.restoration = t.read.checked(parse_restoration(row.text()), Restoration::failed);
                d.restoration_detail = row.text();
                if (const auto used = row.optional_integer()) d.used_by_job = *used != 0;
              });
  if (t.version < 2) return;
  t.read.each(cat("SELECT device_id,", kEnergyColumns, " FROM device_energy ORDER BY rowid"),
              [&t](Statement& row) {
                const GpuId of = t.gpu(row.integer());
                const auto window = t.energy(row);
                for (DeviceEnd& d : t.out.end->devices)
                  if (window && d.gpu == of) d.other_scopes.push_back(*window);
              });
}

void read_channel_ends(Tables& t) {
  if (t.version < 3) return;
  t.read.each(cat("SELECT channel_id,", kEnergyColumns, ",lag_s,lag_quality FROM channel_end ORDER BY rowid"),
              [&t](Statement& row) {
                ChannelEnd end;
                const auto of = t.channel(row.integer());
                end.energy = t.energy(row);
                end.lag = row.optional_quantity<Seconds>();
                end.lag_quality = row.text();
                if (!of) return;
                end.channel = *of;
                t.out.end->channels.push_back(std::move(end));
              });
}

}  // namespace

void read_ends(Tables& tables) {
  read_run_end(tables);
  if (!tables.out.end) return;
  read_device_ends(tables);
  read_channel_ends(tables);
}

}  // namespace rubato::record
