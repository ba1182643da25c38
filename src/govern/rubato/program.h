// What is known of one unchanging program: its stretches, what they make of its curve, and how long it ran
// where.
#pragma once

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "govern/rubato/history.h"
#include "plan/curve_belief.h"

namespace rubato::govern {

/// How what is not known of a program's settings adds up: as far as it is one error, the found setting's own
/// say; or all as if it were one, which leaves room for what was measured across a change that nobody
/// noticed.
enum class Errors { of_the_sum, as_one };

class Program {
 public:
  /// `baseline`: its first stretch at the found setting.
  Program(plan::CurveBelief belief, StretchMean baseline)
      : belief_(std::move(belief)),
        history_(belief_.found()),
        seconds_(belief_.size(), 0.0),
        last_known_(belief_.size()),
        baseline_(baseline),
        at_found_(baseline),
        latest_(baseline) {}

  [[nodiscard]] const plan::CurveBelief& belief() const { return belief_; }
  [[nodiscard]] const History& history() const { return history_; }
  /// What it was looked at before is believed with it.
  void add(std::size_t setting, const StretchMean& mean);
  /// See History.
  void look(std::size_t setting, const StretchMean& mean) { history_.look(setting, mean, era); }
  bool forget_looks() { return history_.forget_looks(); }
  /// Its cost jumped at some moment since it was last seen at the found setting: what came after is of its
  /// new era.
  void part_from_found() { history_.part_from_found(era); }
  /// What came after it was last seen at the found setting was, from some moment on, another program.
  void forget_since_found() {
    history_.forget_since_found();
    latest_ = at_found_;
    latest_at_ = belief_.found();
  }
  void forget(std::size_t setting) { history_.forget(setting); }
  /// The same program on other data: its curve, as far as is known, and no run of its own yet.
  [[nodiscard]] Program variant(int its_era) const;
  /// What was taken over: its curve is another one.
  void forget_inherited();
  [[nodiscard]] bool inherited() const { return inherited_before_.has_value(); }
  void fit();
  /// It ran so long at a setting, measured or not.
  void ran(std::size_t setting, Seconds time) {
    seconds_[setting] += time.value();
    ran_ += time;
  }
  /// So much of it was another program.
  void ran_not(std::size_t setting, Seconds time);
  [[nodiscard]] Seconds ran() const { return ran_; }  // anywhere

  [[nodiscard]] Watts board() const;   // draws at the found setting
  [[nodiscard]] Seconds unit() const;  // of work there
  [[nodiscard]] const StretchMean& baseline() const { return baseline_; }
  /// The latest stretch at the found setting.
  [[nodiscard]] const StretchMean& at_found() const { return at_found_; }
  /// What a stretch at a setting departs from what the one before it, looks left out, makes one expect, in
  /// logarithms.
  struct Departure {
    double time = 0;
    double power = 0;
    double error = 0;  // standard error of either
    double noise = 0;  // of it, what the two stretches scatter
    /// Of both together: a program that is a little faster and draws a little more is told as soon as one
    /// that is much faster.
    [[nodiscard]] double size() const { return std::hypot(time, power); }
  };
  [[nodiscard]] Departure departure(std::size_t setting, const StretchMean& mean) const;
  /// Likewise from what the latest stretch at the found setting makes one expect.
  [[nodiscard]] Departure departure_from_found(std::size_t setting, const StretchMean& mean) const;

  struct Slowdown {
    double seconds = 0;  // it would have taken at the found setting
    double lost = 0;
    double lost_error = 0;
  };
  [[nodiscard]] Slowdown slowdown(Errors errors) const;
  /// What it lost so far stays what it is known as now: its curve is another one from here on.
  void settle();

  std::size_t family = 0;  // of variants: the same
  int era = 0;             // its cost has not jumped since this began
  std::size_t tries = 0;
  std::size_t restarts = 0;  // of its search
  bool searched = false;
  std::size_t chosen = 0;         // when another program took its place
  Seconds next_check;             // of ran(): another setting is looked at again
  std::size_t checks = 0;         // so far
  Seconds next_confirm;           // likewise: the found setting
  std::optional<TimePoint> left;  // when another program took its place
  Seconds away;                   // for how long, the latest time; zero: it has not come back yet
  double owed = 0;                // turns at the slower of two settings

 private:
  plan::CurveBelief belief_;
  History history_;
  std::vector<double> seconds_;  // at each setting
  Seconds ran_;
  Slowdown settled_;                     // not in `seconds_` any more
  std::optional<int> inherited_before_;  // an era
  struct Known {
    double log_time = 0;
    double deviation = 0;
  };
  /// Of settings that were measured: what was known of them while the history still told.
  std::vector<std::optional<Known>> last_known_;
  StretchMean baseline_;
  StretchMean at_found_;
  StretchMean latest_;
  std::optional<std::size_t> latest_at_;
};

}  // namespace rubato::govern
