// Pairs the begin and end marks of every thread, and chooses the threads that count: all ranks of a job mark
// the same epochs, and an epoch is counted once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyse/timeline.h"
#include "progress/iteration_tracker.h"

namespace rubato::analyse {

class MarkStreams {
 public:
  /// `clock`: the thread the job's iterations are counted by. What is still open ends at `end`.
  MarkStreams(const std::vector<Mark>& marks, std::optional<progress::ClockStream> clock, TimePoint end);

  /// In order of time. Of streams that say something of this kind at the same time only the first in this
  /// order counts: of the iteration clock's process, of rank 0, of its thread, the busiest. Windows are
  /// chosen by name.
  [[nodiscard]] std::vector<Span> spans(SpanKind kind) const;
  [[nodiscard]] std::int64_t ignored() const { return ignored_; }

 private:
  struct Stream {
    std::int32_t pid = 0;
    std::int32_t tid = 0;
    std::int32_t rank = -1;
    TimePoint latest{INT64_MIN};
    std::map<std::pair<SpanKind, std::uint64_t>, std::vector<TimePoint>> open;
    std::vector<Span> spans;
  };
  struct Candidate {
    const Stream* stream;
    std::vector<Span> spans;
    TimePoint begin;
    TimePoint end;
  };

  void begin(Stream& stream, SpanKind kind, const Mark& mark);
  void end(Stream& stream, SpanKind kind, const Mark& mark);
  static void close_all(Stream& stream, SpanKind kind, TimePoint at);
  void choose(std::vector<Candidate>& candidates, std::vector<Span>& out) const;

  std::map<std::pair<std::int32_t, std::int32_t>, Stream> streams_;
  std::optional<progress::ClockStream> clock_;
  std::int64_t ignored_ = 0;
};

}  // namespace rubato::analyse
