// Gives ranks that wait for slower ones a lower SM clock than all have, on request. Which they are and how
// low, trials tell: the clock of some is lowered while the others stay, and the job's iteration grows or
// does not. Nothing is asked of what the GPUs do. Pure, as a strategy.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "govern/beside.h"
#include "govern/slack/rank_slack.h"
#include "govern/slack/settled_stretch.h"
#include "govern/strategy.h"

namespace rubato::govern {

/// The strategy goes on choosing one setting for all. It is told the job's series as if all ranks had that
/// one: what trials take is outside of it, and what lasts is taken off by the ratios that were measured. The
/// seconds lost by either are told beside.
class SlackTaker {
 public:
  /// `clocks`: MHz that may be set, ascending.
  explicit SlackTaker(std::vector<double> clocks) : clocks_(std::move(clocks)), ranks_({}) {}

  /// These are the job's ranks from now on, with so many boards each: nothing is known of them. No rank: not
  /// all are here.
  void begin_anew(const std::vector<double>& boards, TimePoint now);

  struct Standing {
    Setting base;              // in force; empty: the found setting
    LowerClocks in_force;      // beside it
    bool settled = false;      // both are, everywhere
    bool holds = false;        // the strategy holds the base
    std::optional<Left> left;  // of its budget
  };
  /// What the strategy is to be told in the place of `job`.
  [[nodiscard]] Observation told(const Observation& job, const Setting& base, const LowerClocks& in_force);
  /// What is wanted beside the base. `job` as measured.
  [[nodiscard]] const LowerClocks& next(const Observation& job, const Standing& standing);

  /// What stays beside such a base.
  [[nodiscard]] LowerClocks given_for(const Setting& base) const;

  /// A trial is under way, and why; nothing where all is as it is to stay.
  [[nodiscard]] std::optional<std::string> trying() const;
  /// News for people, told once.
  [[nodiscard]] std::vector<std::string> take_notes();

  struct Counts {
    int trials = 0;
    int given = 0;      // patterns of clocks that stayed
    int withdrawn = 0;  // and went again
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// Seconds that the job has lost by it.
  [[nodiscard]] Seconds lost() const { return beside_.lost; }

 private:
  enum class Stage {
    holding,
    probing,    // some ranks lower than they are to stay
    verifying,  // all as they are to stay, for the first time
    comparing,  // all at the one clock, to see what the lower ones cost
    returning,  // to what stays
  };
  /// Of the job with lower clocks, over the job without.
  struct Ratio {
    double time = 1;
    double energy = 1;
  };
  struct Verified {
    Megahertz base;
    Ratio ratio;
  };
  /// Share of an iteration that goes with the clock.
  struct ClockBound {
    double share = 0.5;
    std::optional<Megahertz> at;  // where it is that
    [[nodiscard]] double near(Megahertz base) const;
  };
  struct Pattern {
    std::vector<double> growth;  // of each rank's own part
    ClockBound bound;            // that it was made clocks by
  };

  void hold(const Observation& job, const Standing& standing);
  void probe(const Observation& job, const Standing& standing);
  void verify(const Observation& job);
  void compare(const Observation& job);
  /// The next trial, where there is one that is paid for and repays.
  [[nodiscard]] bool try_next(const Observation& job, const std::optional<Left>& left);
  void conclude(const Observation& job);
  /// `part` of the way from what is given to what was found.
  void try_part(double part);
  /// It is that at this base.
  void keep(const Ratio& ratio);
  [[nodiscard]] static bool saves(const Ratio& ratio);
  [[nodiscard]] static Ratio ratio_of(const StretchMean& with, const StretchMean& without);
  void give_up(const Observation& job);
  void wait(const Observation& job);
  void set_aside(const Observation& job);
  void take_up(const Observation& job);
  void interrupt(const Observation& job);
  /// All at the one clock, and nothing is known of any slack.
  void forget(const Observation& job, const std::string& why);

  void learn_clock();
  [[nodiscard]] Megahertz clock_for(double growth, Megahertz base, const ClockBound& bound) const;
  [[nodiscard]] LowerClocks lower(const Pattern& pattern, Megahertz base) const;
  /// As it is with what is given beside such a base; nothing where that was not verified near it.
  [[nodiscard]] const Ratio* ratio_near(const Setting& base) const;
  [[nodiscard]] bool due(const Observation& job) const;
  [[nodiscard]] double margin() const;
  [[nodiscard]] Seconds cost_of(const RankSlack::Probe& probe) const;
  /// What an iteration takes beyond the bound: paid from what was not used before, and nobody watches it
  /// during trials.
  [[nodiscard]] Seconds beyond(const Left& left) const;
  /// Less what was lost since the trials began.
  [[nodiscard]] std::optional<Left> left_now(const Observation& job, const std::optional<Left>& left) const;
  [[nodiscard]] bool repays(const Observation& job, const RankSlack::Probe& probe) const;

  std::vector<double> clocks_;
  std::vector<double> boards_;
  RankSlack ranks_;
  Stage stage_ = Stage::holding;
  Setting base_;
  std::optional<Pattern> given_;  // to stay
  std::vector<Verified> verified_at_;
  Pattern trying_;       // that is verified
  bool probed_ = false;  // since the latest was given
  LowerClocks wanted_;

  SettledStretch stretch_;
  std::optional<double> at_found_;        // logarithm of the seconds of an iteration
  std::optional<StretchMean> reference_;  // the latest of what stays, at this base
  Ratio reference_ratio_;                 // over all at one clock
  std::optional<StretchMean> latest_;     // at any base
  ClockBound bound_;
  std::optional<StretchMean> verified_;    // the first
  std::optional<RankSlack::Probe> probe_;  // under way
  double probed_growth_ = 0;
  int trials_left_ = 0;
  int halvings_ = 0;
  unsigned failures_ = 0;
  TimePoint round_began_;
  TimePoint next_round_;
  Seconds next_compare_;  // of the run

  Beside beside_;
  double uniform_seconds_ = 0;  // of an iteration with one clock for all
  std::optional<Tally> raw_;    // the latest that was told, as it was measured
  std::optional<Tally> corrected_;
  bool aside_ = false;
  Tally off_;  // sums that were taken off what was told
  std::vector<std::string> notes_;
  Counts counts_;
};

}  // namespace rubato::govern
