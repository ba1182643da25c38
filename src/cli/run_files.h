// The files one run needs: where its marks arrive and where its record goes, with a second place where the
// first cannot be written.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "record/types.h"
#include "record/writer.h"

namespace rubato::cli {

/// What can be told about a run before it starts.
[[nodiscard]] record::RunInfo describe_run(std::string mode, const std::vector<std::string>& command);

/// In the state folder; where that cannot be written, in the temporary folder, with a warning that says so.
/// Null (after an error message) where neither can: the run goes on without.
[[nodiscard]] std::unique_ptr<record::Writer> open_record(const record::RunInfo& run);

/// A folder for mark rings that goes away with this object.
class MarkFolder {
 public:
  [[nodiscard]] static Result<MarkFolder> create(const std::string& run_id);
  MarkFolder(MarkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  MarkFolder& operator=(MarkFolder&&) = delete;
  ~MarkFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit MarkFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace rubato::cli
