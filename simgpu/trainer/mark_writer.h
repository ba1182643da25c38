// Writes marks as an injected library does: one ring file of this thread in the folder RUBATO_MARKS names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "core/trained_model.h"
#include "rubato/mark_layout.h"
#include "simgpu/trainer/ring_map.h"

namespace rubato::sim_trainer {

/// Of one thread: the layout allows one producer per file.
class MarkWriter {
 public:
  /// Nothing where RUBATO_MARKS is not set: then nobody listens.
  [[nodiscard]] static Result<std::optional<MarkWriter>> from_environment();
  /// Makes <folder>/<pid>-<tid>.ring. `capacity`: a power of two.
  [[nodiscard]] static Result<MarkWriter> create(const std::filesystem::path& folder,
                                                 std::uint32_t capacity = RUBATO_MARK_DEFAULT_CAPACITY);

  void write(TimePoint at, rubato_mark_kind kind, std::uint64_t id);
  /// What is trained from here on.
  void write_model(TimePoint at, const TrainedModel& model);
  /// What `id` is called, in as many marks as it takes.
  void write_name(TimePoint at, std::uint64_t id, std::string_view name);

 private:
  explicit MarkWriter(RingMap ring) : ring_(std::move(ring)) {}
  RingMap ring_;
};

/// The hash of a name, wherever an id is one.
[[nodiscard]] std::uint64_t hash_of_name(std::string_view name);

}  // namespace rubato::sim_trainer
