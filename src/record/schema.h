// The tables of a run record (docs/formats.md#run-record), in one place for the writer and the reader.
#pragma once

#include <string>
#include <string_view>

namespace rubato::record {

/// PRAGMA application_id of a run record: "rbto", so that `file` and the reader can tell it from other SQLite
/// files.
inline constexpr int kApplicationId = 0x7262746f;

/// CREATE TABLE statements, the version row and the application id.
[[nodiscard]] std::string create_statements();

/// The columns of a Setting, each with `prefix` before and `suffix` after its name, separated by commas.
[[nodiscard]] std::string setting_columns(std::string_view prefix, std::string_view suffix = {});

/// "INSERT INTO table VALUES (?,…)" with `columns` parameters.
[[nodiscard]] std::string insert_into(std::string_view table, int columns);

inline constexpr int kSettingColumns = 7;

}  // namespace rubato::record
