// When all that was read is looked at: often until the first word, then ever more rarely, as what a look can
// add to what is known gets less.
#pragma once

namespace rubato::progress {

enum class Known { nothing, no_period, period };

class LookTimes {
 public:
  /// Of a trace from its first reading on.
  LookTimes() = default;
  /// Of the part of a trace since `from_s`: the first look is due at once.
  LookTimes(double from_s, double now_s) : from_s_(from_s), next_s_(now_s - from_s) {}

  [[nodiscard]] double next_s() const { return from_s_ + next_s_; }
  [[nodiscard]] bool due(double now_s) const { return now_s - from_s_ >= next_s_; }

  /// `known`: before this look.
  void looked(double now_s, Known known);

 private:
  static constexpr double kFirstSeconds = 4.05;  // three looks that agree may decide from 5.1 s on

  double from_s_ = 0;
  double next_s_ = kFirstSeconds;  // since then
};

}  // namespace rubato::progress
