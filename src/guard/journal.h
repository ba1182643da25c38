// The journal of one GPU as a file: what a guard announces before it writes, so that whoever comes after a
// crash can put back what was found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "guard/files.h"
#include "guard/journal_format.h"

namespace rubato::guard {

/// Held only by the owner of the GPU's lock file (guard/ownership.h).
class Journal {
 public:
  /// A new file; conflict where one stands already: a left-behind journal is never overwritten.
  [[nodiscard]] static Result<Journal> create(const Folder& folder, const Header& header,
                                              const std::vector<Record>& first);
  /// What another guard left. Nothing: no journal, or one that ends inside its header (it is removed).
  [[nodiscard]] static Result<std::optional<Journal>> open_left_behind(const Folder& folder,
                                                                       const GpuId& gpu);
  /// Moves an unreadable journal out of the way, to a name not yet taken, which it returns.
  [[nodiscard]] static Result<std::string> move_aside(const Folder& folder, const GpuId& gpu);

  [[nodiscard]] const JournalContent& content() const { return content_; }

  /// On disk when it returns; after an error the file ends where it ended before. A file that has grown long
  /// is first put anew, shorter.
  [[nodiscard]] Status append(const Record& record);
  /// Nothing is left to restore: the file goes. Removing is one atomic step, and a missing file is the one
  /// state that needs no reading; a power cut that brings it back brings another boot id as well, which voids
  /// it.
  [[nodiscard]] Status discard();

 private:
  Journal(Folder folder, ScopedFd fd) : folder_(std::move(folder)), fd_(std::move(fd)) {}
  Status write_lines(const std::string& lines);
  Status shorten();

  Folder folder_;
  ScopedFd fd_;
  JournalContent content_;
  std::size_t good_size_ = 0;
  bool torn_ = false;  // bytes behind good_size_ are no record
};

}  // namespace rubato::guard
