// A ring file as an injected library makes one (include/rubato/mark_layout.h), of one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "base/result.h"

namespace rubato::sim_trainer {

struct RingShape {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t record_size = 0;
  std::uint32_t capacity = 0;  // a power of two
};

class RingMap {
 public:
  [[nodiscard]] static Result<RingMap> create(const std::filesystem::path& file, const RingShape& shape);
  RingMap(RingMap&& other) noexcept;
  RingMap& operator=(RingMap&&) = delete;
  ~RingMap();

  /// `record` begins with its sequence number, which is not read but given.
  template <class Record>
  void write(const Record& record) {
    static_assert(sizeof record % sizeof(std::uint64_t) == 0);
    write_words(
        std::span(reinterpret_cast<const std::uint64_t*>(&record), sizeof record / sizeof(std::uint64_t)));
  }

 private:
  RingMap(void* map, std::size_t size) : map_(map), size_(size) {}
  void write_words(std::span<const std::uint64_t> record);

  void* map_;
  std::size_t size_;
};

/// This thread's id, as in the names of rings.
[[nodiscard]] std::int32_t thread_id();

}  // namespace rubato::sim_trainer
