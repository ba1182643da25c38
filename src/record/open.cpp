#include "record/open.h"

#include "base/text.h"
#include "record/schema.h"

namespace rubato::record {
namespace {

tl::unexpected<Error> not_a_record(const Database& db, std::string_view why) {
  return fail(ErrorCode::corrupt, cat("cannot read run record ", db.file().string(), ": ", why),
              "the file is left as it is; `rubato runs` lists the records that can be read");
}

// Until its run has ended, even the beginning of a record may be in its log alone.
bool lacks_its_log(const Database& db) {
  Statement mode("PRAGMA journal_mode");
  std::error_code missing;
  const auto size = std::filesystem::file_size(cat(db.file().string(), "-wal"), missing);
  return mode.next(db) && mode.text() == "wal" && (missing || size == 0);
}

tl::unexpected<Error> without_its_log(const Database& db) {
  const std::string log = cat(db.file().filename().string(), "-wal");
  return fail(
      ErrorCode::corrupt,
      cat("cannot read run record ", db.file().string(), ": its log ", log,
          " is not beside it, or it was not written by rubato"),
      cat("copy ", log, " from where the run was recorded too: until the run has ended, most is there"));
}

std::vector<std::string> arguments(std::string_view bytes) {
  std::vector<std::string> out = split(bytes, '\0');
  out.pop_back();  // every argument ends with NUL
  return out;
}

}  // namespace

Result<Database> open_record(const std::filesystem::path& file, Check check) {
  auto db = Database::open(file, Database::Mode::read);
  if (!db) return db;
  // Most failures of a damaged or foreign file show at its first page; SQLite's words are kept.
  Statement id("PRAGMA application_id");
  if (!id.next(*db)) return fail(db->error("cannot read run record"));
  if (id.integer() != kApplicationId) {
    if (lacks_its_log(*db)) return without_its_log(*db);
    return not_a_record(*db, "it was not written by rubato, or its beginning is lost");
  }
  const auto version = read_version(*db);
  if (!version) return fail(version.error());
  const std::int64_t found = *version;
  if (found > kSchemaVersion)
    return fail(ErrorCode::not_supported,
                cat("run record ", file.string(), " has schema version ", found, ", this rubato reads up to ",
                    kSchemaVersion),
                "read it with the rubato that wrote it, or a newer one");
  if (found < 1) return not_a_record(*db, cat("schema version ", found, " never existed"));
  if (check == Check::header_only) return db;
  Statement sound("PRAGMA quick_check(1)");
  if (!sound.next(*db)) return fail(db->error("cannot read run record"));
  if (const std::string verdict = sound.text(); verdict != "ok") return not_a_record(*db, verdict);
  return db;
}

Result<std::int64_t> read_version(const Database& db) {
  Statement version("SELECT version FROM schema_version");
  if (!version.next(db)) return not_a_record(db, "it has no schema version");
  return version.integer();
}

Result<RunInfo> read_info(const Database& db) {
  Statement row(
      "SELECT "
      "run_id,mode,command,working_directory,host,rubato_version,boot_id,started_at,begin_ns,clock_rate FROM "
      "run");
  if (!row.next(db))
    return row.failed() ? fail(db.error("cannot read run record")) : not_a_record(db, "table run is empty");
  RunInfo info;
  info.run_id = row.text();
  info.mode = row.text();
  info.command = arguments(row.text());
  info.working_directory = row.text();
  info.host = row.text();
  info.rubato_version = row.text();
  info.boot_id = row.text();
  info.started_at = row.text();
  info.begin = row.time();
  info.clock_rate = row.real();
  return info;
}

Result<RunSummary> read_summary(const std::filesystem::path& file) {
  auto db = open_record(file, Check::header_only);
  if (!db) return fail(db.error());
  auto info = read_info(*db);
  if (!info) return fail(info.error());
  RunSummary summary{.run_id = info->run_id,
                     .mode = info->mode,
                     .command = std::move(info->command),
                     .started_at = info->started_at,
                     .file = file};
  Statement end("SELECT end_ns,exit_code,exit_signal FROM run_end");
  if (end.next(*db)) {
    summary.duration = end.time() - info->begin;
    if (const auto code = end.optional_integer()) summary.exit_code = static_cast<int>(*code);
    if (const auto signal = end.optional_integer()) summary.exit_signal = static_cast<int>(*signal);
  }
  if (end.failed()) return fail(db->error("cannot read run record"));
  return summary;
}

}  // namespace rubato::record
