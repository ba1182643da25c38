// From marks to what the program said it was doing: trainings, epochs, phases, the user's windows. Marks come
// from somebody else's program and may be garbage; whatever does not fit is counted and left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/reader.h"

namespace rubato::analyse {

enum class SpanKind { training, epoch, phase, window };

struct Span {
  SpanKind kind = SpanKind::epoch;
  std::uint64_t id = 0;  // as the program numbers it; ids come again
  std::string name;      // of a phase or a window
  TimePoint begin;
  TimePoint end;
  bool cut_short = false;  // its end was not seen: it ends where the next began, or with the samples
  [[nodiscard]] Seconds duration() const { return end - begin; }
};

/// Something a program said at one moment.
struct Remark {
  TimePoint at;
  std::string text;
};

struct Timeline {
  TimePoint begin;
  TimePoint end;  // of the run; of a record that was cut short its last reading
  // Each in order of time, of the processes that count: several ranks say the same and are not doubled.
  std::vector<Span> trainings;
  std::vector<Span> epochs;
  std::vector<Span> phases;
  std::vector<Span> windows;
  std::optional<std::int64_t> planned_epochs;       // of the last training
  std::optional<std::int64_t> steps_per_iteration;  // where an iteration holds several, always as many
  std::vector<Remark> hooks;                        // each text once
  std::vector<Remark> problems;                     // each text once
  std::vector<Remark> points;
  std::optional<TimePoint> first_mark;
  std::optional<TimePoint> last_mark;
  std::int64_t ignored = 0;  // marks that fit nothing: out of order, an end without its begin
};

[[nodiscard]] Timeline timeline_of(const record::RunRecord& run);

/// Host phases say when work was launched. Only of these does the GPU's energy in the same time tell
/// something.
[[nodiscard]] bool phase_has_energy(std::uint64_t phase);
[[nodiscard]] bool is_phase(const Span& span, std::uint64_t phase);

}  // namespace rubato::analyse
