// Where the next watts should go: what the boards did at some shares of a budget, in; the next shares to try,
// out. Pure.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "govern/power_budget/board_meter.h"
#include "plan/power_shares.h"

namespace rubato::govern {

/// How much less time the work takes, as a fraction, and its standard error.
struct ShareGain {
  double value = 0;
  double error = 0;
};

struct ShareProposal {
  std::vector<Watts> shares;
  std::string why;
};

class ShareSearch {
 public:
  /// `boards` in the order of all vectors here.
  ShareSearch(std::vector<plan::BoardRange> boards, Watts budget);

  /// Of one stretch; curves are learned from it, and whether the boards are in step.
  void measured(const std::vector<BoardMean>& means);
  /// From the best shares so far, `base`. Nothing: no try is worth its time.
  [[nodiscard]] std::optional<ShareProposal> next(const std::vector<BoardMean>& base);
  /// Of the latest proposal, once it was measured.
  void judged(bool better);
  /// The job, or what its boards can do, is another: what was found not to pay may pay now.
  void again();

  /// Of `to` over `from`: in step, of the iteration all share; else the mean of the boards' own. Nothing
  /// where no work was seen.
  [[nodiscard]] std::optional<ShareGain> gain(const std::vector<BoardMean>& from,
                                              const std::vector<BoardMean>& to) const;
  /// No board was seen to run ahead of another by itself.
  [[nodiscard]] bool in_step() const { return in_step_; }

 private:
  struct Point {
    double log_watts;
    double log_rate;
  };
  struct Learned {
    std::vector<Point> clocks;
    std::vector<Point> rates;
  };
  enum class Kind { none, level, lean, probe };

  [[nodiscard]] std::optional<ShareProposal> level(const std::vector<BoardMean>& base) const;
  [[nodiscard]] std::optional<ShareProposal> lean(const std::vector<BoardMean>& base) const;
  [[nodiscard]] std::optional<ShareProposal> probe(const std::vector<BoardMean>& base,
                                                   std::size_t board) const;
  /// Nothing where a board's rate was not seen.
  [[nodiscard]] std::optional<std::vector<plan::BoardCurve>> curves(const std::vector<BoardMean>& base) const;
  /// Around where a board stands; what it cannot use is not offered to it.
  [[nodiscard]] std::vector<plan::BoardRange> near(const std::vector<BoardMean>& base) const;

  std::vector<plan::BoardRange> boards_;
  Watts budget_;
  std::vector<Learned> learned_;
  bool in_step_ = true;
  Kind latest_ = Kind::none;
  int levels_ = 0;       // tried since again()
  int levels_lost_ = 0;  // of them, that were no better
  bool leaned_ = false;
  std::size_t probe_ = 0;  // the next board to be given more
};

}  // namespace rubato::govern
