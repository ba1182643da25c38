#include "record/writer.h"

#include <rubato/mark_layout.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>

#include "base/text.h"
#include "record/index.h"
#include "record/kernel_chunk.h"
#include "record/mark_quota.h"
#include "record/name_book.h"
#include "record/sample_buffer.h"
#include "record/schema.h"
#include "record/sqlite.h"

namespace rubato::record {
namespace fs = std::filesystem;
namespace {

constexpr Seconds kCommitPeriod{1.0};
constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kFrameBytes = kPageBytes + 24;  // a page in the write-ahead log, with its header

struct Device {
  std::int64_t id = 0;
  SampleBuffer<FastReading> fast{"fast"};
  SampleBuffer<SlowReading> slow{"slow"};
  std::vector<std::pair<Source, std::int64_t>> sources;
};

struct Channel {
  std::int64_t id = 0;
  SampleBuffer<FastReading> readings{"fast"};
};

// These come at the pace of the work; the others at the pace of people and epochs, and are not to be lost
// among them.
bool frequent(std::uint32_t kind) {
  switch (kind) {
    case RUBATO_MARK_ITERATION_BEGIN:
    case RUBATO_MARK_ITERATION_END:
    case RUBATO_MARK_PHASE_BEGIN:
    case RUBATO_MARK_PHASE_END:
    case RUBATO_MARK_LAYER_BEGIN:
    case RUBATO_MARK_LAYER_END:
      return true;
    default:
      return false;
  }
}

bool same(const Source& a, const Source& b) {
  return a.name == b.name && a.unit == b.unit && a.scope == b.scope && a.kind == b.kind &&
         a.quality == b.quality;
}

fs::path temporary_folder(const Placement& placement) {
  if (!placement.temporary_folder.empty()) return placement.temporary_folder;
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

}  // namespace

struct Writer::Impl {
  Database db;
  RunInfo run;
  fs::path file;  // being written
  fs::path home;  // where it belongs; the same, unless that is on a network
  fs::path scratch{};
  TimePoint due;
  std::map<GpuId, Device> devices{};
  std::vector<Channel> channels{};
  NameBook names{};
  MarkQuota frequent_marks{};
  MarkQuota other_marks{};
  std::vector<KernelRecord> kernels{};  // of the open second
  std::optional<Error> failure{};       // of the file; from then on nothing is written
  bool told = false;
  bool open = false;  // a transaction
  bool finished = false;
  std::int64_t next_source = 1;

  ChunkSink chunks{"sample_chunk"};
  ChunkSink channel_chunks{"channel_chunk"};
  KernelEncoder kernel_encoder{};
  Statement begin_transaction{"BEGIN"};
  Statement commit_transaction{"COMMIT"};
  Statement put_device{"INSERT OR REPLACE" + insert_into("device", 23).substr(6)};
  Statement insert_source{insert_into("source", 8)};
  Statement insert_edge{insert_into("counter_edge", 4)};
  Statement insert_mark{insert_into("mark", 7 + 4)};
  Statement insert_iteration{insert_into("iteration", 3)};
  Statement insert_window{insert_into("window", 2 + kSettingColumns + 3 + 6)};
  Statement insert_change{insert_into("setting_change", 3 + 2 * kSettingColumns + 3)};
  Statement insert_decision{insert_into("decision", 2 + kSettingColumns + 1)};
  Statement insert_gap{insert_into("gap", 4)};
  Statement insert_channel{insert_into("channel", 13)};
  Statement insert_channel_end{insert_into("channel_end", 1 + 6 + 2)};
  Statement put_name{"INSERT OR REPLACE" + insert_into("name", 2).substr(6)};
  Statement insert_kernels{insert_into("kernel_chunk", 5)};
  Statement insert_cycle{insert_into("kernel_cycle", 4)};
  Statement insert_end{insert_into("run_end", 8)};
  Statement insert_device_energy{insert_into("device_energy", 1 + 6)};
  Statement insert_device_end{insert_into("device_end", 1 + 6 + 2 * (1 + kSettingColumns) + 3)};

  template <class... Values>
  void write(Statement& statement, const Values&... values) {
    if (failure || !begin()) return;
    if (!statement.run(db, values...)) fail_with(db.error("cannot write run record"));
  }

  bool begin() {
    if (open) return true;
    open = begin_transaction.run(db);
    if (!open) fail_with(db.error("cannot write run record"));
    return open;
  }

  void fail_with(const Error& error) {
    if (!failure) failure = error;
  }

  void commit() {
    if (failure || !open) return;
    open = !commit_transaction.run(db);
    if (open) fail_with(db.error("cannot write run record"));
  }

  void flush(bool all) {
    for (auto& [gpu, device] : devices) {
      if (failure || !begin()) return;
      const bool ok =
          device.fast.write(db, chunks, device.id, all) && device.slow.write(db, chunks, device.id, all);
      if (!ok) fail_with(db.error("cannot write run record"));
    }
    for (Channel& channel : channels) {
      if (failure || !begin()) return;
      if (!channel.readings.write(db, channel_chunks, channel.id, all))
        fail_with(db.error("cannot write run record"));
    }
    flush_progress(all);
    commit();
  }

  void flush_progress(bool all) {
    for (const auto& [id, text] : names.take_changed()) write(put_name, static_cast<std::int64_t>(id), text);
    for (MarkQuota* quota : {&frequent_marks, &other_marks})
      if (const auto dropped = quota->take_dropped(all))
        write(insert_gap, dropped->begin, dropped->end, std::nullopt,
              cat(dropped->marks, " marks were left out: more than a thousand a second came"));
    if (kernels.empty() || failure) return;
    const TimePoint origin = kernels.front().begin;
    TimePoint end = origin;
    for (const KernelRecord& kernel : kernels) end = std::max(end, kernel.end);
    const auto blob = kernel_encoder.encode(kernels);
    if (blob)
      write(insert_kernels, kKernelChunkLayout, origin, end, static_cast<std::int64_t>(kernels.size()),
            *blob);
    else
      fail_with(blob.error());
    kernels.clear();
  }

  Device& device(const GpuId& gpu) {
    const auto [found, fresh] = devices.try_emplace(gpu);
    if (fresh) {
      found->second.id = static_cast<std::int64_t>(devices.size());
      // Rows may name a GPU before it is described; a record must not become unreadable by that.
      write_device(found->second.id, DeviceInfo{.identity = {.id = gpu}});
    }
    return found->second;
  }

  void write_device(std::int64_t id, const DeviceInfo& d) {
    const auto limit = [&d](Watts PowerLimits::*member) {
      return d.found ? std::optional((*d.found).*member) : std::nullopt;
    };
    write(put_device, id, d.identity.id.uuid, d.identity.name, static_cast<std::int64_t>(d.identity.index),
          d.identity.pci_bus_id, name_of(d.kind), d.backend, d.driver_version, d.sensor.update_period,
          d.sensor.averaging_window, d.sensor.counter_period, d.sensor.calibration_band, d.sensor.source,
          limit(&PowerLimits::min), limit(&PowerLimits::max), limit(&PowerLimits::default_limit),
          limit(&PowerLimits::requested), limit(&PowerLimits::enforced), d.sensor.gain, d.sensor.offset,
          d.sensor.calibrated_by, d.sensor.lag, d.sensor.calibration_floor);
  }

  std::int64_t source(const GpuId& gpu, const Source& source) {
    Device& of = device(gpu);
    for (const auto& [known, id] : of.sources)
      if (same(known, source)) return id;
    of.sources.emplace_back(source, next_source);
    write(insert_source, next_source, of.id, source.name, source.unit, name_of(source.scope),
          name_of(source.kind), source.quality, std::nullopt);
    return next_source++;
  }

  std::int64_t channel_source(std::int64_t channel, const Source& source) {
    write(insert_source, next_source, std::nullopt, source.name, source.unit, name_of(source.scope),
          name_of(source.kind), source.quality, channel);
    return next_source++;
  }

  void channel_end(const ChannelEnd& end) {
    if (end.channel >= channels.size()) return;
    const std::int64_t id = channels[end.channel].id;
    const auto tail = [&](const auto&... energy) {
      write(insert_channel_end, id, energy..., end.lag, end.lag_quality);
    };
    const auto none = std::nullopt;
    if (const auto& e = end.energy)
      tail(e->begin, e->end, e->energy, e->band_sampling, e->band_calibration, channel_source(id, e->source));
    else
      tail(none, none, none, none, none, none);
  }
};

Writer::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Writer::~Writer() {
  // Not finished: leave what a crash would leave, a second fresher.
  if (!impl_->finished) impl_->flush(false);
}

Result<std::unique_ptr<Writer>> Writer::create(const fs::path& directory, const RunInfo& run,
                                               const Placement& placement) {
  if (const Status made = make_private_folders(directory); !made) return fail(made.error());
  const fs::path home = directory / cat(run.run_id, ".sqlite");
  const bool network =
      placement.is_network ? placement.is_network(directory) : on_network_file_system(directory);
  fs::path scratch;
  if (network) {
    auto made = make_scratch_folder(temporary_folder(placement));
    if (!made) return fail(made.error());
    scratch = std::move(*made);
  }
  const fs::path file = network ? scratch / home.filename() : home;
  auto db = Database::open(file, Database::Mode::create);
  if (!db) return fail(db.error());
  // Nothing is worth a sync before the first second is over; a small cache is enough, as nothing is read
  // back.
  auto made = db->execute(cat("PRAGMA page_size=", kPageBytes,
                              ";PRAGMA cache_size=-256;PRAGMA synchronous=OFF;PRAGMA journal_mode=WAL;",
                              create_statements(), "PRAGMA synchronous=NORMAL"));
  auto impl = std::make_unique<Impl>(Impl{.db = std::move(*db),
                                          .run = run,
                                          .file = file,
                                          .home = home,
                                          .scratch = scratch,
                                          .due = run.begin + kCommitPeriod});
  if (made) {
    std::string command;
    for (const std::string& argument : run.command) command += argument + '\0';
    Statement insert(insert_into("run", 10));
    impl->write(insert, run.run_id, run.mode, std::vector<char>(command.begin(), command.end()),
                run.working_directory, run.host, run.rubato_version, run.boot_id, run.started_at, run.begin,
                run.clock_rate);
    impl->commit();
    if (impl->failure) made = fail(*impl->failure);
  }
  if (!made) {
    impl->finished = true;
    static_cast<void>(impl->db.close());
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(cat(file.string(), suffix), ignored);
    if (network) fs::remove(scratch, ignored);
    return fail(made.error());
  }
  return std::unique_ptr<Writer>(new Writer(std::move(impl)));
}

void Writer::device(const DeviceInfo& device) {
  impl_->write_device(impl_->device(device.identity.id).id, device);
}

void Writer::source(const GpuId& gpu, const Source& source) {
  static_cast<void>(impl_->source(gpu, source));
}

void Writer::sample(const GpuId& gpu, const FastReading& reading) {
  if (!impl_->failure) impl_->device(gpu).fast.add(reading);
}

void Writer::sample(const GpuId& gpu, const SlowReading& reading) {
  if (!impl_->failure) impl_->device(gpu).slow.add(reading);
}

void Writer::counter_edge(const CounterEdge& edge) {
  impl_->write(impl_->insert_edge, edge.at, impl_->device(edge.gpu).id, edge.counter, edge.reset ? 1 : 0);
}

void Writer::channel(const ChannelInfo& c) {
  Impl& w = *impl_;
  w.channels.push_back({.id = static_cast<std::int64_t>(w.channels.size()) + 1});
  const MeterChannel& of = c.channel;
  w.write(w.insert_channel, w.channels.back().id, c.meter, of.name, name_of(of.scope), of.inside, of.place,
          of.has_energy ? 1 : 0, of.has_power ? 1 : 0, of.sensor.update_period, of.sensor.averaging_window,
          of.sensor.counter_period, of.sensor.calibration_band, of.sensor.source);
}

void Writer::sample(std::size_t channel, const FastReading& reading) {
  if (!impl_->failure && channel < impl_->channels.size()) impl_->channels[channel].readings.add(reading);
}

void Writer::mark(const Mark& m) {
  Impl& w = *impl_;
  if (m.kind == RUBATO_MARK_NAME) return w.names.add(m);
  if (!(frequent(m.kind) ? w.frequent_marks : w.other_marks).admit(m.at)) return;
  // SQLite has no unsigned integers: ids and details keep their bits.
  const auto bits = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  w.write(w.insert_mark, m.at, bits(m.kind), bits(m.flags), bits(m.id), m.pid, m.tid, m.rank,
          bits(m.detail[0]), bits(m.detail[1]), bits(m.detail[2]), bits(m.detail[3]));
}

void Writer::kernel(const KernelRecord& kernel) {
  if (!impl_->failure) impl_->kernels.push_back(kernel);
}

void Writer::kernel_cycle(const KernelCycle& c) {
  impl_->write(impl_->insert_cycle, c.begin, c.end, c.pid, static_cast<std::int64_t>(c.lost));
}

void Writer::iteration(const Iteration& i) {
  impl_->write(impl_->insert_iteration, i.index, i.begin, i.end);
}

void Writer::block(const Block& b) {
  const std::int64_t device = impl_->device(b.gpu).id;
  const auto& e = b.energy;
  const auto head = [&](const auto&... energy) {
    impl_->write(impl_->insert_window, name_of(b.role), device, b.setting, b.begin, b.end, b.iterations,
                 energy...);
  };
  const auto none = std::nullopt;
  if (e)
    head(e->begin, e->end, e->energy, e->band_sampling, e->band_calibration, impl_->source(b.gpu, e->source));
  else
    head(none, none, none, none, none, none);
}

void Writer::setting_change(const SettingChange& c) {
  impl_->write(impl_->insert_change, c.at, impl_->device(c.gpu).id, c.who, c.asked, c.requested, c.enforced,
               c.reached_sm_clock, c.outcome);
}

void Writer::decision(const Decision& d) {
  impl_->write(impl_->insert_decision, d.at, d.action, d.setting, d.why);
}

void Writer::gap(const Gap& g) {
  const auto device = g.gpu ? std::optional(impl_->device(*g.gpu).id) : std::nullopt;
  impl_->write(impl_->insert_gap, g.begin, g.end, device, g.why);
}

TimePoint Writer::next_due() const {
  return impl_->due;
}

Status Writer::step(TimePoint now) {
  impl_->frequent_marks.step(now);
  impl_->other_marks.step(now);
  if (now >= impl_->due) {
    impl_->due = impl_->due + kCommitPeriod;
    if (impl_->due <= now) impl_->due = now + kCommitPeriod;
    impl_->flush(false);
  }
  if (!impl_->failure || impl_->told) return {};
  impl_->told = true;
  return fail(*impl_->failure);
}

std::uint64_t Writer::bytes_written() const {
  int pages = 0;
  int highest = 0;
  sqlite3_db_status(impl_->db.get(), SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 0);
  return static_cast<std::uint64_t>(pages) * kFrameBytes;
}

const fs::path& Writer::file() const {
  return impl_->file;
}

const RunInfo& Writer::run() const {
  return impl_->run;
}

fs::path Writer::directory() const {
  return impl_->home.parent_path();
}

Result<fs::path> Writer::finish(const RunEnd& end) {
  Impl& w = *impl_;
  for (const DeviceEnd& d : end.devices) {
    const std::int64_t device = w.device(d.gpu).id;
    const auto& e = d.energy;
    const auto source = e ? std::optional(w.source(d.gpu, e->source)) : std::nullopt;
    w.write(w.insert_device_end, device, e ? std::optional(e->begin) : std::nullopt,
            e ? std::optional(e->end) : std::nullopt, e ? std::optional(e->energy) : std::nullopt,
            e ? std::optional(e->band_sampling) : std::nullopt,
            e ? std::optional(e->band_calibration) : std::nullopt, source, d.found ? 1 : 0,
            d.found.value_or(Setting{}), d.requested ? 1 : 0, d.requested.value_or(Setting{}),
            name_of(d.restoration), d.restoration_detail,
            d.used_by_job ? std::optional<std::int64_t>(*d.used_by_job ? 1 : 0) : std::nullopt);
    for (const EnergyWindow& other : d.other_scopes)
      w.write(w.insert_device_energy, device, other.begin, other.end, other.energy, other.band_sampling,
              other.band_calibration, w.source(d.gpu, other.source));
  }
  for (const ChannelEnd& channel : end.channels) w.channel_end(channel);
  const OwnCost& cost = end.cost;
  w.write(w.insert_end, end.end, end.exit_code, end.exit_signal, static_cast<std::int64_t>(cost.driver.calls),
          cost.driver.inside, cost.cpu, static_cast<std::int64_t>(cost.bytes_written),
          static_cast<std::int64_t>(cost.ticks));
  w.flush(true);
  w.commit();
  w.finished = true;
  if (w.failure) return fail(*w.failure);
  // What is still given to this writer is dropped.
  w.failure = Error{ErrorCode::internal, "this run record is finished"};
  w.told = true;
  // One file without a log beside it. Where somebody reads the record right now it keeps the log, which is no
  // harm unless the file must move.
  const Status single = w.db.execute("PRAGMA journal_mode=DELETE");
  if (!single && !w.scratch.empty()) return fail(single.error());
  if (!w.scratch.empty()) {
    if (const Status moved = move_into_place(w.file, w.home); !moved) {
      Error error = moved.error();
      error.what += cat("; the record is still in ", w.file.string());
      return fail(error);
    }
    std::error_code ignored;
    fs::remove(w.scratch, ignored);
    w.file = w.home;
  }
  IndexEntry entry{.summary = {.run_id = w.run.run_id,
                               .mode = w.run.mode,
                               .command = w.run.command,
                               .started_at = w.run.started_at,
                               .duration = end.end - w.run.begin,
                               .exit_code = end.exit_code,
                               .exit_signal = end.exit_signal,
                               .file = w.home}};
  if (stamp(entry)) append_to_index(entry);
  return w.home;
}

}  // namespace rubato::record
