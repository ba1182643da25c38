// From what a person types for RUN to one record, read and summarised.
#pragma once

#include <filesystem>
#include <string>

#include "analyse/summary.h"
#include "base/result.h"
#include "record/reader.h"

namespace rubato::cli {

/// `name`: a run id, the beginning of one, `last`, or the path of a record.
[[nodiscard]] Result<std::filesystem::path> find_record(const std::string& name);

struct ReadRun {
  record::RunRecord run;
  analyse::Summary summary;
  bool running = false;
};
[[nodiscard]] Result<ReadRun> read_summarised(const std::filesystem::path& file);

}  // namespace rubato::cli
