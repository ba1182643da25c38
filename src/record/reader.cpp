#include "record/reader.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "record/chunk.h"
#include "record/open.h"
#include "record/reading.h"
#include "record/reading_progress.h"
#include "record/schema.h"
#include "record/sqlite.h"

namespace rubato::record {
namespace {

constexpr std::string_view kEnergyColumns =
    "energy_begin_ns,energy_end_ns,energy_j,band_sampling_j,band_calibration_j,source_id";

class Loader {
 public:
  Loader(const Database& db, std::int64_t version, RunRecord& out)
      : read_(db), version_(version), out_(out) {}

  std::optional<Error> load() {
    devices();
    channels();
    sources();
    samples();
    progress();
    read_progress(read_, version_, out_);
    actions();
    ends();
    if (!read_.failure()) set_bystanders_aside();
    return read_.failure();
  }

 private:
  DeviceRecord* device(std::int64_t id) {
    const auto found = at_.find(id);
    if (found != at_.end()) return &out_.devices[found->second];
    read_.corrupt(cat("a row names device ", id, ", which is not in table device"));
    return nullptr;
  }
  GpuId gpu(std::int64_t id) {
    const DeviceRecord* found = device(id);
    return found == nullptr ? GpuId{} : found->info.identity.id;
  }

  void devices() {
    read_.each(
        cat("SELECT id,uuid,name,driver_index,pci_bus_id,kind,backend,driver_version,sensor_update_period_s,"
            "sensor_averaging_window_s,sensor_counter_period_s,sensor_calibration_band_fraction,sensor_"
            "source,"
            "limit_min_w,"
            "limit_max_w,limit_default_w,limit_requested_w,limit_enforced_w,",
            version_ < 3 ? "NULL,NULL,'',NULL,0"
                         : "sensor_gain,sensor_offset_w,sensor_calibrated_by,sensor_lag_s,"
                           "sensor_calibration_floor_w",
            " FROM device ORDER BY id"),
        [this](Statement& row) {
          at_[row.integer()] = out_.devices.size();
          DeviceInfo& d = out_.devices.emplace_back().info;
          d.identity.id.uuid = row.text();
          d.identity.name = row.text();
          d.identity.index = static_cast<unsigned>(row.integer());
          d.identity.pci_bus_id = row.text();
          d.kind = read_.checked(parse_kind(row.text()), Kind::measured);
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
        });
  }

  void channels() {
    if (version_ < 3) return;
    read_.each(
        "SELECT id,meter,name,scope,inside,place,has_energy,has_power,sensor_update_period_s,"
        "sensor_averaging_window_s,sensor_counter_period_s,sensor_calibration_band_fraction,sensor_source "
        "FROM "
        "channel ORDER BY id",
        [this](Statement& row) {
          channel_at_[row.integer()] = out_.channels.size();
          ChannelInfo& info = out_.channels.emplace_back().info;
          info.meter = row.text();
          MeterChannel& c = info.channel;
          c.name = row.text();
          c.scope = read_.checked(parse_scope(row.text()), Scope::node);
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
  std::optional<std::size_t> channel(std::int64_t id) {
    const auto found = channel_at_.find(id);
    if (found != channel_at_.end()) return found->second;
    read_.corrupt(cat("a row names channel ", id, ", which is not in table channel"));
    return std::nullopt;
  }

  void sources() {
    read_.each("SELECT id,name,unit,scope,kind,quality,device_id FROM source ORDER BY id",
               [this](Statement& row) {
                 Source& s = sources_[row.integer()];
                 s.name = row.text();
                 s.unit = row.text();
                 s.scope = read_.checked(parse_scope(row.text()), Scope::gpu);
                 s.kind = read_.checked(parse_kind(row.text()), Kind::measured);
                 s.quality = row.text();
                 if (row.is_null()) return;  // of a meter's channel
                 if (DeviceRecord* of = device(row.integer())) of->sources.push_back(s);
               });
  }

  void samples() {
    read_.each("SELECT device_id,kind,layout,begin_ns,samples,data FROM sample_chunk ORDER BY begin_ns,rowid",
               [this](Statement& row) {
                 DeviceRecord* of = device(row.integer());
                 const std::string kind = row.text();
                 ChunkHead head;
                 head.layout = row.integer();
                 head.begin = row.time();
                 head.samples = static_cast<std::size_t>(row.integer());
                 const std::string blob = row.text();
                 if (of == nullptr) return;
                 if (kind == "fast")
                   append(of->fast, decode_fast_chunk(head, blob));
                 else
                   append(of->slow, decode_slow_chunk(head, blob));
               });
    if (version_ == 1) open_rows_of_version_1();
    if (version_ < 3) return;
    read_.each("SELECT channel_id,layout,begin_ns,samples,data FROM channel_chunk ORDER BY begin_ns,rowid",
               [this](Statement& row) {
                 const auto of = channel(row.integer());
                 ChunkHead head;
                 head.layout = row.integer();
                 head.begin = row.time();
                 head.samples = static_cast<std::size_t>(row.integer());
                 const std::string blob = row.text();
                 if (of) append(out_.channels[*of].readings, decode_fast_chunk(head, blob));
               });
  }

  // Version 1 kept what was in no chunk yet as plain rows in a table of its own.
  void open_rows_of_version_1() {
    read_.each(
        "SELECT "
        "device_id,kind,at_ns,power_w,energy_counter_j,sm_clock_mhz,memory_clock_mhz,sm_utilisation_fraction,"
        "memory_utilisation_fraction,temperature_c,limiter_bits,requested_limit_w,enforced_limit_w FROM "
        "sample_open "
        "ORDER BY at_ns",
        [this](Statement& row) {
          DeviceRecord* of = device(row.integer());
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

  template <class Sample>
  void append(std::vector<Sample>& to, Result<std::vector<Sample>> chunk) {
    if (!chunk) return read_.corrupt(chunk.error().what);
    to.insert(to.end(), chunk->begin(), chunk->end());
  }

  void progress() {
    read_.each("SELECT at_ns,device_id,counter_j,was_reset FROM counter_edge ORDER BY at_ns",
               [this](Statement& row) {
                 const TimePoint at = row.time();
                 DeviceRecord* of = device(row.integer());
                 if (of == nullptr) return;
                 const auto counter = row.quantity<Joules>();
                 of->counter_edges.push_back({at, of->info.identity.id, counter, row.integer() != 0});
               });
    read_.each(cat("SELECT role,device_id,", setting_columns(""), ",begin_ns,end_ns,iterations,",
                   kEnergyColumns, " FROM window ORDER BY begin_ns,rowid"),
               [this](Statement& row) {
                 Block& b = out_.blocks.emplace_back();
                 b.role = read_.checked(parse_block_role(row.text()), BlockRole::hold);
                 b.gpu = gpu(row.integer());
                 b.setting = row.setting();
                 b.begin = row.time();
                 b.end = row.time();
                 b.iterations = row.integer();
                 b.energy = energy(row);
               });
  }

  void actions() {
    read_.each(
        cat("SELECT at_ns,device_id,who,", setting_columns("asked_"), ",", setting_columns("requested_"),
            ",enforced_w,reached_sm_clock_mhz,outcome FROM setting_change ORDER BY at_ns,rowid"),
        [this](Statement& row) {
          SettingChange& c = out_.setting_changes.emplace_back();
          c.at = row.time();
          c.gpu = gpu(row.integer());
          c.who = row.text();
          c.asked = row.setting();
          c.requested = row.setting();
          c.enforced = row.optional_quantity<Watts>();
          c.reached_sm_clock = row.optional_quantity<Megahertz>();
          c.outcome = row.text();
        });
    read_.each(cat("SELECT at_ns,action,", setting_columns(""), ",why FROM decision ORDER BY at_ns,rowid"),
               [this](Statement& row) {
                 Decision& d = out_.decisions.emplace_back();
                 d.at = row.time();
                 d.action = row.text();
                 d.setting = row.setting();
                 d.why = row.text();
               });
    read_.each("SELECT begin_ns,end_ns,device_id,why FROM gap ORDER BY begin_ns,rowid",
               [this](Statement& row) {
                 Gap& g = out_.gaps.emplace_back();
                 g.begin = row.time();
                 g.end = row.time();
                 if (const auto id = row.optional_integer()) g.gpu = gpu(*id);
                 g.why = row.text();
               });
  }

  void ends() {
    read_.each(
        "SELECT end_ns,exit_code,exit_signal,driver_calls,driver_inside_s,cpu_s,bytes_written,ticks FROM "
        "run_end",
        [this](Statement& row) {
          RunEnd& end = out_.end.emplace();
          end.end = row.time();
          if (const auto code = row.optional_integer()) end.exit_code = static_cast<int>(*code);
          if (const auto signal = row.optional_integer()) end.exit_signal = static_cast<int>(*signal);
          end.cost.driver.calls = static_cast<std::uint64_t>(row.integer());
          end.cost.driver.inside = row.quantity<Seconds>();
          end.cost.cpu = row.quantity<Seconds>();
          end.cost.bytes_written = static_cast<std::uint64_t>(row.integer());
          end.cost.ticks = static_cast<std::uint64_t>(row.integer());
        });
    if (!out_.end) return;
    read_.each(cat("SELECT device_id,", kEnergyColumns, ",found_known,", setting_columns("found_"),
                   ",requested_known,", setting_columns("requested_"), ",restoration,restoration_detail",
                   version_ < 3 ? ",NULL" : ",used_by_job", " FROM device_end ORDER BY rowid"),
               [this](Statement& row) {
                 DeviceEnd& d = out_.end->devices.emplace_back();
                 d.gpu = gpu(row.integer());
                 d.energy = energy(row);
                 const auto known = [&row]() -> std::optional<Setting> {
                   const bool is_known = row.integer() != 0;
                   const Setting setting = row.setting();
                   return is_known ? std::optional(setting) : std::nullopt;
                 };
                 d.found = known();
                 d.requested = known();
                 d.restoration = read_.checked(parse_restoration(row.text()), Restoration::failed);
                 d.restoration_detail = row.text();
                 if (const auto used = row.optional_integer()) d.used_by_job = *used != 0;
               });
    if (version_ < 2) return;
    read_.each(cat("SELECT device_id,", kEnergyColumns, " FROM device_energy ORDER BY rowid"),
               [this](Statement& row) {
                 const GpuId of = gpu(row.integer());
                 const auto window = energy(row);
                 for (DeviceEnd& d : out_.end->devices)
                   if (window && d.gpu == of) d.other_scopes.push_back(*window);
               });
    if (version_ < 3) return;
    read_.each(
        cat("SELECT channel_id,", kEnergyColumns, ",lag_s,lag_quality FROM channel_end ORDER BY rowid"),
        [this](Statement& row) {
          ChannelEnd end;
          const auto of = channel(row.integer());
          end.energy = energy(row);
          end.lag = row.optional_quantity<Seconds>();
          end.lag_quality = row.text();
          if (!of) return;
          end.channel = *of;
          out_.end->channels.push_back(std::move(end));
        });
  }

  // What is left is the job's.
  void set_bystanders_aside() {
    if (!out_.end) return;
    for (const DeviceEnd& end : out_.end->devices) {
      if (end.used_by_job.value_or(true)) continue;
      const auto device = std::ranges::find_if(
          out_.devices, [&](const DeviceRecord& d) { return d.info.identity.id == end.gpu; });
      if (device == out_.devices.end()) continue;
      out_.bystanders.push_back({device->info.identity, device->info.kind, end.energy});
      out_.devices.erase(device);
    }
    const auto aside = [this](const GpuId& gpu) {
      return std::ranges::any_of(out_.bystanders, [&](const Bystander& b) { return b.identity.id == gpu; });
    };
    std::erase_if(out_.end->devices, [&](const DeviceEnd& d) { return aside(d.gpu); });
    std::erase_if(out_.blocks, [&](const Block& b) { return aside(b.gpu); });
    std::erase_if(out_.setting_changes, [&](const SettingChange& c) { return aside(c.gpu); });
    std::erase_if(out_.gaps, [&](const Gap& g) { return g.gpu && aside(*g.gpu); });
  }

  std::optional<EnergyWindow> energy(Statement& row) {
    if (row.is_null()) {
      for (int i = 0; i < 6; ++i) row.skip();
      return std::nullopt;
    }
    EnergyWindow w;
    w.begin = row.time();
    w.end = row.time();
    w.energy = row.quantity<Joules>();
    w.band_sampling = row.quantity<Joules>();
    w.band_calibration = row.quantity<Joules>();
    const std::int64_t id = row.integer();
    const auto source = sources_.find(id);
    if (source != sources_.end())
      w.source = source->second;
    else
      read_.corrupt(cat("a row names source ", id, ", which is not in table source"));
    return w;
  }

  Reading read_;
  std::int64_t version_;
  RunRecord& out_;
  std::map<std::int64_t, std::size_t> at_;  // device id → place in out_.devices
  std::map<std::int64_t, std::size_t> channel_at_;
  std::map<std::int64_t, Source> sources_;
};

}  // namespace

Result<RunRecord> read_run(const std::filesystem::path& file) {
  auto db = open_record(file, Check::whole_file);
  if (!db) return fail(db.error());
  auto info = read_info(*db);
  if (!info) return fail(info.error());
  RunRecord record;
  record.info = std::move(*info);
  record.file = file;
  const auto version = read_version(*db);
  if (!version) return fail(version.error());
  if (auto failure = Loader(*db, *version, record).load()) return fail(std::move(*failure));
  return record;
}

}  // namespace rubato::record
