// Whether somebody still writes a run record: a run that goes on, not one that was cut short.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace rubato::record {

/// The process that has the record open for writing, as the kernel tells who holds SQLite's lock on it, so a
/// process id used again cannot mislead; 0 where the kernel cannot name it (another process namespace).
/// Absent also for a record that lies on a network and is written elsewhere until its run ends. Not to be
/// called while this process has the record open: the kernel drops all of a process's locks on a file when it
/// closes any descriptor of it.
[[nodiscard]] std::optional<pid_t> writer_of(const std::filesystem::path& record);

[[nodiscard]] inline bool still_written(const std::filesystem::path& record) {
  return writer_of(record).has_value();
}

}  // namespace rubato::record
