// A file that is there whole or not at all, or a stream.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "report/rows.h"

namespace rubato::cli {

/// Written beside its place under another name, and renamed by finish(): what was there stays until then, and
/// without finish() for good. What replaces the caller's own file has its permissions, and the caller's own
/// links are followed. Pipes and devices are written to as they are.
class OutputFile final : public report::Sink {
 public:
  /// `target`: a path, or "-" for standard output. conflict: it is there and `overwrite` is false.
  [[nodiscard]] static Result<OutputFile> open(const std::string& target, bool overwrite);
  /// Whether open() would do, where what is to be written takes long to make. Leaves nothing behind.
  [[nodiscard]] static Status check(const std::string& target);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile() override;

  [[nodiscard]] Status write(std::string_view text) override;
  [[nodiscard]] Status finish();

 private:
  OutputFile(ScopedFd file, int fd, std::filesystem::path target, std::filesystem::path part, bool overwrite)
      : file_(std::move(file)),
        fd_(fd),
        target_(std::move(target)),
        part_(std::move(part)),
        overwrite_(overwrite) {}
  [[nodiscard]] Status flush();

  ScopedFd file_;
  int fd_;
  std::filesystem::path target_;
  std::filesystem::path part_;  // empty: nothing to rename
  bool overwrite_;
  std::string buffer_;
};

/// A file from what `fill` writes, whole or not at all.
[[nodiscard]] Status write_file(const std::string& target, bool overwrite,
                                const std::function<Status(report::Sink&)>& fill);

}  // namespace rubato::cli
