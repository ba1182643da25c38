// The GPUs, the channels of meters, and where figures come from.
#include "record/tables.h"

namespace rubato::record {
namespace {

void read_gpus(Tables& t) {
  t.read.each(
      cat("SELECT id,uuid,name,driver_index,pci_bus_id,kind,backend,driver_version,sensor_update_period_s,"
          "sensor_averaging_window_s,sensor_counter_period_s,sensor_calibration_band_fraction,sensor_source,"
          "limit_min_w,limit_max_w,limit_default_w,limit_requested_w,limit_enforced_w,",
          t.version < 3 ? "NULL,NULL,'',NULL,0"
                        : "sensor_gain,sensor_offset_w,sensor_calibrated_by,sensor_lag_s,"
                          "sensor_calibration_floor_w",
          t.version < 7 ? ",0" : ",sensor_counter_sees_all", " FROM device ORDER BY id"),
      [&t](Statement& row) {
        t.device_at[row.integer()] = t.out.devices.size();
        DeviceInfo& d = t.out.devices.emplace_back().info;
        d.identity.id.uuid = row.text();
        d.identity.name = row.text();
        d.identity.index = static_cast<unsigned>(row.integer());
        d.identity.pci_bus_id = row.text();
        d.kind = t.read.checked(parse_kind(row.text()), Kind::measured);
        d.backend = row.text();
        d.driver_version = row.text();
        d.sensor.update_period = row.optional_quantity<Seconds>();
        d.sensor.averaging_window = row.optional_quantity<Seconds>();
        d.sensor.counter_period = row.optional_quantity<Seconds>();
        d.sensor.calibration_band = row.real();
        d.sensor.source = row.text();
        PowerLimits limits;
        const bool known = !row.is_null();
        for (Watts* limit :
             {&limits.min, &limits.max, &limits.default_limit, &limits.requested, &limits.enforced})
          *limit = row.quantity<Watts>();
        if (known) d.found = limits;
        d.sensor.gain = row.optional_real();
        d.sensor.offset = row.optional_quantity<Watts>();
        d.sensor.calibrated_by = row.text();
        d.sensor.lag = row.optional_quantity<Seconds>();
        d.sensor.calibration_floor = row.quantity<Watts>();
        d.sensor.counter_sees_all = row.integer() != 0;
      });
}

void read_channels(Tables& t) {
  if (t.version < 3) return;
  t.read.each(
      "SELECT id,meter,name,scope,inside,place,has_energy,has_power,sensor_update_period_s,"
      "sensor_averaging_window_s,sensor_counter_period_s,sensor_calibration_band_fraction,sensor_source "
      "FROM channel ORDER BY id",
      [&t](Statement& row) {
        t.channel_at[row.integer()] = t.out.channels.size();
        ChannelInfo& info = t.out.channels.emplace_back().info;
        info.meter = row.text();
        MeterChannel& c = info.channel;
        c.name = row.text();
        c.scope = t.read.checked(parse_scope(row.text()), Scope::node);
        c.inside = row.text();
        c.place = row.text();
        c.has_energy = row.integer() != 0;
        c.has_power = row.integer() != 0;
        c.sensor.update_period = row.optional_quantity<Seconds>();
        c.sensor.averaging_window = row.optional_quantity<Seconds>();
        c.sensor.counter_period = row.optional_quantity<Seconds>();
        c.sensor.calibration_band = row.real();
        c.sensor.source = row.text();
      });
}

void read_sources(Tables& t) {
  t.read.each("SELECT id,name,unit,scope,kind,quality,device_id FROM source ORDER BY id",
              [&t](Statement& row) {
                Source& s = t.sources[row.integer()];
                s.name = row.text();
                s.unit = row.text();
                s.scope = t.read.checked(parse_scope(row.text()), Scope::gpu);
                s.kind = t.read.checked(parse_kind(row.text()), Kind::measured);
                s.quality = row.text();
                if (row.is_null()) return;  // of a meter's channel
                if (DeviceRecord* of = t.device(row.integer())) of->sources.push_back(s);
              });
}

}  // namespace

void read_devices(Tables& tables) {
  read_gpus(tables);
  read_channels(tables);
  read_sources(tables);
}

}  // namespace rubato::record
