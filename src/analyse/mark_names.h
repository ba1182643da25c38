// Words for the kinds of marks and phases of include/rubato/mark_layout.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rubato::analyse {

/// "iteration_begin"; "unknown" for what this rubato does not know.
[[nodiscard]] std::string_view name_of_mark(std::int64_t kind);
/// "evaluation"; "phase 12" for what this rubato does not know.
[[nodiscard]] std::string name_of_phase(std::uint64_t phase);

/// Kinds that begin or end a stretch; `what` is the same for both: "iteration".
struct StretchMark {
  std::string_view what;
  bool begins = false;
};
[[nodiscard]] std::optional<StretchMark> stretch_of_mark(std::string_view name);

}  // namespace rubato::analyse
