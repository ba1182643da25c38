// A file that several processes map and change together: a header that is written once, and cells that change
// one at a time, whole or not at all, whoever is killed meanwhile.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace rubato {

struct SharedFileFormat {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::size_t cell_size = 0;     // sizeof of a trivially copyable struct
  std::size_t least_header = 0;  // a shorter one is of another version
  std::string_view noun;         // "simulated world", for errors
  std::string_view make_hint;    // what to do where there is none
  std::string_view remove_hint;  // what to do where it is of another version
};

/// Thread-safe. Header and cells lie at addresses that are multiples of 64.
class SharedFile {
 public:
  /// not_found; conflict: another version; corrupt: not such a file.
  [[nodiscard]] static Result<std::unique_ptr<SharedFile>> open(const std::filesystem::path& path,
                                                                const SharedFileFormat& format);
  /// Appears at once and whole, with mode 0600. conflict where the file is there already. `cells`: one after
  /// the other.
  [[nodiscard]] static Status create(const std::filesystem::path& path, const SharedFileFormat& format,
                                     std::span<const std::byte> header, std::span<const std::byte> cells);
  /// The same in this process's own memory: nobody else sees it.
  [[nodiscard]] static Result<std::unique_ptr<SharedFile>> in_memory(const SharedFileFormat& format,
                                                                     std::span<const std::byte> header,
                                                                     std::span<const std::byte> cells);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  [[nodiscard]] std::span<std::byte> header();
  [[nodiscard]] std::size_t cells() const;
  /// Alone with one cell. A process killed inside `change` leaves the cell as it was before it. timeout where
  /// a stopped process holds the lock.
  [[nodiscard]] Status update(std::size_t cell, const std::function<void(std::byte*)>& change);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  // empty: in memory
  [[nodiscard]] std::optional<uid_t> owner() const { return owner_; }        // absent: in memory

 private:
  SharedFile(std::filesystem::path path, ScopedFd fd, std::byte* map, std::size_t size)
      : path_(std::move(path)), fd_(std::move(fd)), map_(map), size_(size) {}
  Status own_descriptor();
  void turn(std::size_t cell, const std::function<void(std::byte*)>& change);

  std::mutex mutex_;
  std::filesystem::path path_;
  ScopedFd fd_;
  std::byte* map_;
  std::size_t size_;
  std::optional<uid_t> owner_;
  pid_t pid_ = 0;
};

}  // namespace rubato
