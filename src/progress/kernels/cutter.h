// Cuts a stream's launches into iterations along a known pattern.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "progress/kernels/follower.h"

namespace rubato::progress::kernels {

/// From the begin of its first launch to the begin of the next one's.
struct Cut {
  TimePoint begin;
  TimePoint end;
  std::size_t launches = 0;  // of this stream
};

class Cutter {
 public:
  explicit Cutter(std::vector<Token> pattern) : follower_(std::move(pattern)) {}

  /// An iteration that this launch ends, where it was seen whole: most of its launches, both of its borders,
  /// and not much else in between.
  std::optional<Cut> add(Token symbol, TimePoint begin);
  /// A launch that the pattern does not look at.
  void pass_over() { ++launches_; }
  /// Nothing is known of what lies before the next launch.
  void lose();

  /// Iterations that ended, seen whole or not.
  [[nodiscard]] std::int64_t ended() const { return ended_; }
  [[nodiscard]] std::uint64_t fitted() const { return fitted_; }
  [[nodiscard]] std::uint64_t seen() const { return seen_; }
  [[nodiscard]] const std::vector<Token>& pattern() const { return follower_.pattern(); }

 private:
  [[nodiscard]] bool whole() const;
  [[nodiscard]] bool wraps(std::size_t at) const;

  Follower follower_;
  std::array<TimePoint, Follower::kRow> begins_{};  // of the latest launches
  std::optional<std::size_t> place_;
  std::optional<TimePoint> border_;  // begin of the present iteration
  std::size_t own_ = 0;              // launches in it that fit
  std::size_t foreign_ = 0;
  std::size_t launches_ = 0;
  std::int64_t ended_ = 0;
  std::uint64_t fitted_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace rubato::progress::kernels
