// How much earlier than the slowest each rank of a job ends its own part of an iteration, as far as lowering
// its clock has told. Ranks are asked in groups first, which are split where more may be in it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace rubato::govern {

/// All figures are fractions of the job's iteration at the clock that all have. A rank's slack is 1 less its
/// own part; a group's is that of its slowest.
class RankSlack {
 public:
  /// `weights`: boards of each rank.
  explicit RankSlack(const std::vector<double>& weights);

  struct Probe {
    std::size_t group = 0;
    std::vector<std::size_t> ranks;
    double growth = 0;   // of their own part, for which their clock is to be lowered
    double at_most = 0;  // of the job's iteration, if they have no more slack than is known
    double promise = 0;  // slack hoped for, times their share of all boards
  };
  /// The one that promises most; nothing where all is known.
  [[nodiscard]] std::optional<Probe> next() const;
  /// `growth` is what the clock that was used comes to; `ratio` the job's iteration in it over the one
  /// before, `error` that one's standard error.
  void tell(const Probe& probe, double growth, double ratio, double error);
  /// There is no clock so low.
  void reached_lowest(const Probe& probe) { groups_[probe.group].known = true; }

  /// By how much the own part of each may grow and still end `margin` before the slowest's; 0 where that is
  /// hardly anything.
  [[nodiscard]] std::vector<double> growth(double margin) const;
  /// So much was too much of some, and is just right with `growth`: those have no more slack than that.
  void settle(const std::vector<double>& growth, double margin);

 private:
  struct Group {
    std::vector<std::size_t> ranks;
    double slack = 0;
    double step = 0;     // beyond what is known, the next time
    double promise = 0;  // of a rank
    bool asked = false;
    bool known = false;
    bool near = false;  // measured where its part is about as long as the job's
  };
  void split(std::size_t group);

  std::vector<double> weights_;
  double all_ = 0;  // boards
  std::vector<Group> groups_;
};

}  // namespace rubato::govern
