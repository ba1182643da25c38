#include "cli/records.h"

#include "base/text.h"
#include "cli/caller.h"
#include "record/live.h"
#include "record/writer.h"

namespace rubato::cli {

Result<std::filesystem::path> find_record(const std::string& name) {
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored)) {
    return fail(
        ErrorCode::invalid_argument,
        cat(name, " is a folder; a run is named by its id, the beginning of one, `last`, or its file"),
        "`rubato runs` lists the ids");
  }
  // Under sudo a run is the caller's, unless its file is named.
  if (!std::filesystem::exists(name, ignored))
    if (const auto dropped = drop_to_caller(); !dropped) return fail(dropped.error());
  const auto directory = record::default_directory();
  if (!directory) return fail(directory.error());
  return record::find_run(*directory, name);
}

Result<ReadRun> read_summarised(const std::filesystem::path& file) {
  const bool running = record::still_written(file);
  auto run = record::read_run(file);
  if (!run) return fail(run.error());
  analyse::Summary summary = analyse::summarise(*run);
  const bool goes_on = running && !run->end;
  return ReadRun{std::move(*run), std::move(summary), goes_on};
}

}  // namespace rubato::cli
