// The "key value" lines of one message, taken apart with every bound checked. Internal to the codec.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/gpu_id.h"
#include "core/setting.h"

namespace rubato::wire {

struct Field {
  std::string key;
  std::string value;
  std::size_t line = 0;
};

inline constexpr std::size_t kLongestUuid = 96;
/// Of lines after the first. A request for every GPU has under 100; of replies, times have the most.
inline constexpr std::size_t kMostRequestLines = 256;
inline constexpr std::size_t kMostReplyLines = 1024;

[[nodiscard]] tl::unexpected<Error> bad_line(std::size_t line, std::string_view why);

/// Lines after the first. Errors: corrupt, naming the line; more than `most` are not looked at.
[[nodiscard]] Result<std::vector<Field>> parse_fields(std::string_view body, std::size_t most);

/// The one field of that name, or null; corrupt where it stands twice.
[[nodiscard]] Result<const Field*> find_one(const std::vector<Field>& fields, std::string_view key);

[[nodiscard]] Result<GpuId> gpu_of(const Field& field);
/// Exactly `count` finite numbers.
[[nodiscard]] Result<std::vector<double>> numbers_of(const Field& field, std::size_t count);

[[nodiscard]] Result<GpuId> required_gpu(const std::vector<Field>& fields);
[[nodiscard]] Result<std::string> optional_text(const std::vector<Field>& fields, std::string_view key);
[[nodiscard]] Result<std::optional<Watts>> optional_watts(const std::vector<Field>& fields,
                                                          std::string_view key);
[[nodiscard]] Result<std::optional<ClockRange>> optional_range(const std::vector<Field>& fields,
                                                               std::string_view key);
/// Memory clock, then SM clock.
[[nodiscard]] Result<std::optional<ApplicationClocks>> optional_pair(const std::vector<Field>& fields,
                                                                     std::string_view key);
/// Not negative.
[[nodiscard]] Result<std::optional<std::int64_t>> optional_whole(const std::vector<Field>& fields,
                                                                 std::string_view key);

}  // namespace rubato::wire
