#include "record/writer.h"

#include <cstdlib>

#include "base/text.h"
#include "record/index.h"
#include "record/writer_impl.h"

namespace rubato::record {
namespace fs = std::filesystem;
namespace {

constexpr Seconds kCommitPeriod{1.0};
constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kFrameBytes = kPageBytes + 24;  // a page in the write-ahead log, with its header

fs::path temporary_folder(const Placement& placement) {
  if (!placement.temporary_folder.empty()) return placement.temporary_folder;
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

}  // namespace

bool Writer::Impl::begin() {
  if (open) return true;
  open = begin_transaction.run(db);
  if (!open) fail_with(db.error("cannot write run record"));
  return open;
}

void Writer::Impl::commit() {
  if (failure || !open) return;
  open = !commit_transaction.run(db);
  if (open) fail_with(db.error("cannot write run record"));
}

void Writer::Impl::flush(bool all) {
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
  for (const DeviceEnd& device : end.devices) w.device_end(device);
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
