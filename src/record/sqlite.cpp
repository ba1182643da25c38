#include "record/sqlite.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "base/text.h"

namespace rubato::record {
namespace {

std::string hint_for(int code) {
  switch (code) {
    case SQLITE_FULL:
      return "make room on that file system, or point XDG_STATE_HOME at another one";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_IOERR:
      return "point XDG_STATE_HOME at a folder you can write to: XDG_STATE_HOME=/tmp/rubato-state rubato …";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "the file is left as it is; `rubato runs` lists the records that can be read";
    default:
      return {};
  }
}

// A record whose run did not end keeps a log beside it, and SQLite reads that through a file of its own
// there: where it can make none, it names neither.
bool cannot_make_its_file(int code, int system, const std::filesystem::path& record) {
  const bool refused = system == 0 || system == ENOENT || system == EACCES || system == EROFS;
  return (code == SQLITE_READONLY || (code == SQLITE_CANTOPEN && refused)) &&
         ::faccessat(AT_FDCWD, record.c_str(), R_OK, AT_EACCESS) == 0;
}

ErrorCode code_for(int code) {
  switch (code) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::corrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::busy;
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return ErrorCode::no_permission;
    default:
      return ErrorCode::io;
  }
}

}  // namespace

Error Database::error(std::string_view doing) const {
  const int extended = sqlite3_extended_errcode(handle_.get());
  const int code = extended & 0xff;
  int system = sqlite3_system_errno(handle_.get());
  // What it may not create it tries to read, and tells of that.
  if (mode_ == Mode::create && code == SQLITE_CANTOPEN && system == ENOENT &&
      ::access(file_.parent_path().c_str(), W_OK | X_OK) != 0)
    system = errno;
  // SQLite's own words for a failed system call ("disk I/O error") hide what the kernel said.
  const bool kernel_knows = (code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && system != 0;
  const std::string reason =
      kernel_knows ? std::generic_category().message(system) : std::string(sqlite3_errmsg(handle_.get()));
  const bool full = kernel_knows && (system == ENOSPC || system == EDQUOT);
  const std::string name = file_.filename().string();
  if (mode_ == Mode::read && cannot_make_its_file(code, system, file_))
    return Error{ErrorCode::no_permission,
                 cat(doing, " ", file_.string(), ": its run did not end, and such a record is read through ",
                     name, "-shm beside it, which cannot be made"),
                 cat("copy it together with ", name, "-wal to a folder you can write to, and read it there")};
  if (mode_ == Mode::read && code == SQLITE_CANTOPEN && system == EACCES)
    return Error{ErrorCode::no_permission, cat(doing, " ", file_.string(), ": ", reason),
                 cat("see whose it is: ls -l ", file_.string())};
  return Error{code_for(code), cat(doing, " ", file_.string(), ": ", reason),
               hint_for(full ? SQLITE_FULL : code)};
}

Result<Database> Database::open(const std::filesystem::path& file, Mode mode) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(file, ignored);
  if (mode == Mode::create && exists)
    return fail(ErrorCode::conflict,
                cat("run record ", file.string(), " is already there, and a run needs a new one"),
                "start the run again: every run makes a new id");
  if (mode == Mode::read && !exists)
    return fail(ErrorCode::not_found, cat("there is no run record ", file.string()),
                "`rubato runs` lists them");

  Database db;
  db.file_ = file;
  db.mode_ = mode;
  const int flags =
      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
      (mode == Mode::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
  sqlite3* handle = nullptr;
  const int result = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
  db.handle_.reset(handle);
  if (result != SQLITE_OK)
    return fail(db.error(mode == Mode::create ? "cannot create run record" : "cannot open"));
  sqlite3_busy_timeout(handle, 1000);
  return db;
}

Status Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return fail(error("cannot write run record"));
  return {};
}

Status Database::close() {
  if (sqlite3_close(handle_.get()) != SQLITE_OK) return fail(error("cannot close run record"));
  static_cast<void>(handle_.release());
  return {};
}

bool Statement::prepare(const Database& db) {
  parameter_ = 1;
  column_ = 0;
  if (handle_) return true;
  sqlite3_stmt* handle = nullptr;
  const int length = static_cast<int>(sql_.size());
  if (sqlite3_prepare_v3(db.get(), sql_.c_str(), length, SQLITE_PREPARE_PERSISTENT, &handle, nullptr) !=
      SQLITE_OK)
    return false;
  handle_.reset(handle);
  return true;
}

bool Statement::next(const Database& db) {
  if (!prepare(db)) {
    failed_ = true;
    return false;
  }
  const int result = sqlite3_step(handle_.get());
  failed_ = result != SQLITE_ROW && result != SQLITE_DONE;
  return result == SQLITE_ROW;
}

std::string Statement::text() {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column_));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column_));
  ++column_;
  return bytes == nullptr ? std::string() : std::string(bytes, size);
}

std::optional<std::int64_t> Statement::optional_integer() {
  if (!is_null()) return integer();
  skip();
  return std::nullopt;
}

std::optional<double> Statement::optional_real() {
  if (!is_null()) return real();
  skip();
  return std::nullopt;
}

Setting Statement::setting() {
  std::array<std::optional<Megahertz>, 6> clock;
  Setting setting;
  setting.power_limit = optional_quantity<Watts>();
  for (auto& value : clock) value = optional_quantity<Megahertz>();
  if (clock[0] && clock[1]) setting.sm_clock = ClockRange{*clock[0], *clock[1]};
  if (clock[2] && clock[3]) setting.memory_clock = ClockRange{*clock[2], *clock[3]};
  if (clock[4] && clock[5]) setting.application_clocks = ApplicationClocks{*clock[4], *clock[5]};
  return setting;
}

// The bytes outlive the step that follows at once, so SQLite need not copy them.
void Statement::bind(std::string_view value) {
  sqlite3_bind_text(handle_.get(), parameter_++, value.empty() ? "" : value.data(),
                    static_cast<int>(value.size()), SQLITE_STATIC);
}

void Statement::bind(std::span<const char> blob) {
  sqlite3_bind_blob(handle_.get(), parameter_++, blob.empty() ? "" : blob.data(),
                    static_cast<int>(blob.size()), SQLITE_STATIC);
}

void Statement::bind(const Setting& value) {
  const auto range = [this](const std::optional<ClockRange>& r) {
    bind(r ? std::optional(r->min) : std::nullopt);
    bind(r ? std::optional(r->max) : std::nullopt);
  };
  bind(value.power_limit);
  range(value.sm_clock);
  range(value.memory_clock);
  bind(value.application_clocks ? std::optional(value.application_clocks->memory) : std::nullopt);
  bind(value.application_clocks ? std::optional(value.application_clocks->sm) : std::nullopt);
}

}  // namespace rubato::record
