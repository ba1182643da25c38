// The files one run needs: where its marks arrive and where its record goes, with a second place where the
// first cannot be written.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "conduct/mark_folder.h"
#include "record/types.h"
#include "record/writer.h"

namespace rubato::cli {

/// What can be told about a run before it starts.
[[nodiscard]] record::RunInfo describe_run(std::string mode, const std::vector<std::string>& command);

/// In the state folder; where that cannot be written, in the temporary folder, with a warning that says so.
/// Null (after an error message) where neither can: the run goes on without.
[[nodiscard]] std::unique_ptr<record::Writer> open_record(const record::RunInfo& run);

/// A folder for mark rings that goes away with this object, in the user's runtime folder.
class MarkFolder {
 public:
  /// Sweeps what killed runs left there.
  [[nodiscard]] static Result<MarkFolder> create(const std::string& run_id);
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

 private:
  explicit MarkFolder(conduct::MarkFolder folder) : folder_(std::move(folder)) {}
  conduct::MarkFolder folder_;
};

}  // namespace rubato::cli
