// How far long work is, for a person at a terminal: one line of standard error that is written anew in its
// place, with the time left. Into a pipe or a file nothing is written.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/units.h"

namespace rubato::cli {

/// "12 of 68 runs, about 3 min 20 s left". Nothing is said of the time before one is done.
[[nodiscard]] std::string progress_words(std::size_t done, std::size_t all, std::string_view what,
                                         Seconds spent);

/// Not thread-safe.
class ProgressLine {
 public:
  /// `quiet`: never shown.
  explicit ProgressLine(bool quiet = false);
  ~ProgressLine() { take_away(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// At most ten times a second, and always the last. `what`: "runs", or what is done now.
  void show(std::size_t done, std::size_t all, std::string_view what);
  /// Before anything else is written.
  void take_away();

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_;
  bool written_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = begin_;
};

}  // namespace rubato::cli
