// The report of a run, made by `rubato export` in a process of its own: a record of days, or one that is
// damaged, costs this process neither memory nor its life, and the page is the very file that people mail.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/units.h"

namespace rubato::exporter {

/// `rubato` beside this program, else the one that the caller's PATH finds.
[[nodiscard]] std::filesystem::path rubato_program();

/// The HTML report of the record. Ends the other process, and fails, at `ending`, after `patience`, and where
/// the page is larger than any report is. Errors: not_found where there is no such program; what it said,
/// where it failed.
[[nodiscard]] Result<std::string> exported_report(const std::filesystem::path& program,
                                                  const std::filesystem::path& record,
                                                  const std::atomic<bool>& ending,
                                                  Seconds patience = Seconds(120));

}  // namespace rubato::exporter
