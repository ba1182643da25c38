// Whether somebody still writes a run record: a run that goes on, not one that was cut short.
#pragma once

#include <filesystem>

namespace rubato::cli {

/// Asks the kernel who holds SQLite's lock on the record, so a process id used again cannot mislead. False
/// also for a record that lies on a network and is written elsewhere until its run ends. Not to be called
/// while this process has the record open: the kernel drops all of a process's locks on a file when it closes
/// any descriptor of it.
[[nodiscard]] bool still_written(const std::filesystem::path& record);

}  // namespace rubato::cli
