// Writes marks as an injected library does: one ring file of this thread in the folder RUBATO_MARKS names.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "rubato/mark_layout.h"

namespace rubato::sim_trainer {

/// Of one thread: the layout allows one producer per file.
class MarkWriter {
 public:
  /// Nothing where RUBATO_MARKS is not set: then nobody listens.
  [[nodiscard]] static Result<std::optional<MarkWriter>> from_environment();
  /// Makes <folder>/<pid>-<tid>.ring. `capacity`: a power of two.
  [[nodiscard]] static Result<MarkWriter> create(const std::filesystem::path& folder,
                                                 std::uint32_t capacity = RUBATO_MARK_DEFAULT_CAPACITY);
  MarkWriter(MarkWriter&& other) noexcept;
  MarkWriter& operator=(MarkWriter&&) = delete;
  ~MarkWriter();

  void write(TimePoint at, rubato_mark_kind kind, std::uint64_t id);

 private:
  MarkWriter(void* map, std::size_t size) : map_(map), size_(size) {}
  void* map_;
  std::size_t size_;
};

}  // namespace rubato::sim_trainer
