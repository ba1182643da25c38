// How far what a look stated still stands, by the short looks at the latest iterations since.
#pragma once

#include <cstddef>

namespace rubato::progress {

class Standing {
 public:
  static constexpr std::size_t kLeastMissed = 2;  // in a row, before it is doubted: one is a stall

  /// A look at all there is found a period that was not stated before.
  void stated(double confidence);

  /// It found the one stated. `since_lost`: it saw only what came after the short looks had found it last;
  /// else it may have seen little of that, and they are doubted no less.
  void stated_again(double confidence, bool since_lost);

  /// A short look at the latest iterations found the period stated, or did not.
  void stepped(bool confirmed);

  /// What the last look said, less where two short ones in a row and more do not find the period: where they
  /// always did much less, where they seldom do hardly.
  [[nodiscard]] double confidence() const { return doubted() ? chance_ : said_; }

  [[nodiscard]] bool confirmed() const { return missed_ == 0; }

  /// So much less that another period is worth a look.
  [[nodiscard]] bool lost() const;

 private:
  [[nodiscard]] bool doubted() const;

  double said_ = 0;
  double chance_ = 0;       // that it stands, by every short look since
  std::size_t steps_ = 0;   // since it was first stated
  std::size_t misses_ = 0;  // of them, that did not find it
  std::size_t missed_ = 0;  // the latest, in a row
};

}  // namespace rubato::progress
