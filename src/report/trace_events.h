// A trace in Chrome's trace-event JSON, which Perfetto and chrome://tracing open. Written event by event,
// never held whole. Format: "Trace Event Format" (Google, 2016): counters ph "C", slices ph "X", moments ph
// "i", names ph "M"; times are microseconds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "report/rows.h"

namespace rubato::report {

/// A line of the picture: events of one process and thread stand together.
struct Track {
  std::int64_t process = 0;
  std::int64_t thread = 0;
};

using TraceArgument = std::pair<std::string_view, Cell>;

/// The first failure of the sink is kept; what is given afterwards is dropped and finish() tells.
class TraceWriter {
 public:
  /// Moments are counted from `zero`.
  TraceWriter(Sink& to, TimePoint zero);

  void name_process(std::int64_t process, std::string_view name);
  void name_thread(const Track& track, std::string_view name);
  /// One line of numbers per process and name; `unit` names the value.
  void counter(std::int64_t process, std::string_view name, std::string_view unit, TimePoint at,
               double value);
  void slice(const Track& track, std::string_view category, std::string_view name, TimePoint begin,
             TimePoint end, std::span<const TraceArgument> arguments = {});
  void moment(const Track& track, std::string_view category, std::string_view name, TimePoint at,
              std::span<const TraceArgument> arguments = {});
  /// `facts`: text about the whole trace, kept under "otherData".
  [[nodiscard]] Status finish(std::span<const std::pair<std::string, std::string>> facts);

 private:
  void event(char phase, const Track& track, std::string_view name, std::string_view rest);
  [[nodiscard]] std::string at(TimePoint moment) const;

  Sink& to_;
  TimePoint zero_;
  Status status_;
  bool first_ = true;
  std::string line_;
};

}  // namespace rubato::report
