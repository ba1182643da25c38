// What the looks before this one held to be the iteration. A look at all of a long trace is misled by stalls,
// drift and changes of clock that the shorter looks on the way were spared: how often and how firmly a length
// was believed before is evidence too. A last ranking is learnt on it (recalled_trees.inc): change the order
// or the meaning of the numbers, and train anew (tools/train-period-ranking).
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

namespace rubato::progress {

/// How far one look believed in one length, 0 to 1, for itself: without what it recalls.
struct Opinion {
  double length_s = 0;
  double chance = 0;
};

inline constexpr std::size_t kRecallTraits = 17;
using RecallTraits = std::array<float, kRecallTraits>;

class Recall {
 public:
  Recall() = default;
  /// Of looks at the trace since then.
  explicit Recall(double from_s) : from_s_(from_s) {}

  /// After a look so many seconds after the trace began.
  void add(double seconds, std::vector<Opinion> opinions);

  /// The lengths believed most so far, the most first: worth asking about, whether this look finds them or
  /// not.
  [[nodiscard]] std::vector<double> lengths_s() const;

  /// By opinion, of a look so many seconds after it began.
  [[nodiscard]] std::vector<RecallTraits> traits_of(const std::vector<Opinion>& now, double seconds) const;

 private:
  struct Past {
    double seconds = 0;
    std::vector<Opinion> opinions;
  };
  [[nodiscard]] double mean_chance(double length_s) const;
  [[nodiscard]] Opinion best_but(double length_s) const;

  double from_s_ = 0;
  std::deque<Past> looks_;  // the latest last
};

[[nodiscard]] std::span<const std::string_view, kRecallTraits> recall_trait_names();

}  // namespace rubato::progress
