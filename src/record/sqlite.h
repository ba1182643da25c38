// The part of SQLite the run record needs: a connection and prepared statements that close themselves, and
// errors as rubato::Error naming the file.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "core/setting.h"

namespace rubato::record {

class Database {
 public:
  enum class Mode { create, read };
  /// create: the file must not be there yet (conflict). read: never writes to the file.
  [[nodiscard]] static Result<Database> open(const std::filesystem::path& file, Mode mode);

  [[nodiscard]] Status execute(const std::string& sql);
  /// The latest failure of this connection, after `doing` ("cannot write run record").
  [[nodiscard]] Error error(std::string_view doing) const;
  [[nodiscard]] sqlite3* get() const { return handle_.get(); }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] Status close();

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
  std::filesystem::path file_;
  Mode mode_ = Mode::read;
};

/// Prepared when first used and kept. Parameters are bound, and columns taken, from left to right.
class Statement {
 public:
  explicit Statement(std::string sql) : sql_(std::move(sql)) {}

  /// Binds every value in order and runs to the end; false: the connection has the error.
  template <class... Values>
  [[nodiscard]] bool run(const Database& db, const Values&... values) {
    if (!prepare(db)) return false;
    (bind(values), ...);
    const bool done = sqlite3_step(handle_.get()) == SQLITE_DONE;
    sqlite3_reset(handle_.get());
    return done;
  }

  /// The next row; false at the end or on failure, which failed() tells apart.
  [[nodiscard]] bool next(const Database& db);
  [[nodiscard]] bool failed() const { return failed_; }

  [[nodiscard]] bool is_null() const { return sqlite3_column_type(handle_.get(), column_) == SQLITE_NULL; }
  void skip() { ++column_; }
  [[nodiscard]] std::int64_t integer() { return sqlite3_column_int64(handle_.get(), column_++); }
  [[nodiscard]] double real() { return sqlite3_column_double(handle_.get(), column_++); }
  [[nodiscard]] std::string text();
  [[nodiscard]] TimePoint time() { return TimePoint{integer()}; }
  [[nodiscard]] std::optional<std::int64_t> optional_integer();
  [[nodiscard]] std::optional<double> optional_real();
  template <class Quantity>
  [[nodiscard]] Quantity quantity() {
    return Quantity(real());
  }
  template <class Quantity>
  [[nodiscard]] std::optional<Quantity> optional_quantity() {
    const std::optional<double> value = optional_real();
    return value ? std::optional<Quantity>(Quantity(*value)) : std::nullopt;
  }
  [[nodiscard]] Setting setting();  // seven columns, in the order of setting_columns()

 private:
  [[nodiscard]] bool prepare(const Database& db);
  void bind(std::nullopt_t) { sqlite3_bind_null(handle_.get(), parameter_++); }
  void bind(std::int64_t value) { sqlite3_bind_int64(handle_.get(), parameter_++, value); }
  void bind(int value) { bind(static_cast<std::int64_t>(value)); }
  void bind(double value) { sqlite3_bind_double(handle_.get(), parameter_++, value); }
  void bind(std::string_view value);
  void bind(const std::string& value) { bind(std::string_view(value)); }
  void bind(const char* value) { bind(std::string_view(value)); }
  void bind(std::span<const char> blob);
  void bind(const std::vector<char>& blob) { bind(std::span<const char>(blob)); }
  void bind(TimePoint value) { bind(value.ns); }
  void bind(const Setting& value);
  template <class Tag>
  void bind(Quantity<Tag> value) {
    bind(value.value());
  }
  template <class T>
  void bind(const std::optional<T>& value) {
    if (value)
      bind(*value);
    else
      bind(std::nullopt);
  }

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::string sql_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int parameter_ = 1;
  int column_ = 0;
  bool failed_ = false;
};

}  // namespace rubato::record
