// The list of finished runs beside the records, so that listing a thousand of them opens none. It is a text
// file and can be deleted at any time: list_runs() makes it again. Not SQLite, because the folder may lie on
// a network.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "record/reader.h"

namespace rubato::record {

struct IndexEntry {
  RunSummary summary;
  // Of the record's file when the entry was made; another size or time makes the entry stale.
  std::uintmax_t size = 0;
  std::int64_t modified_ns = 0;
};

struct Index {
  std::map<std::string, IndexEntry> by_file_name;
  bool damaged = false;  // missing, or a line that cannot be read
};

[[nodiscard]] std::filesystem::path index_file(const std::filesystem::path& directory);
[[nodiscard]] Index read_index(const std::filesystem::path& directory);
/// Appends one entry. A failure is no error: list_runs() will find the record without it.
void append_to_index(const IndexEntry& entry);
/// Replaces the whole file at once; quietly nothing where the folder cannot be written.
void write_index(const std::filesystem::path& directory, const Index& index);

/// Reads size and time of the record's file; false where it is gone.
[[nodiscard]] bool stamp(IndexEntry& entry);

}  // namespace rubato::record
