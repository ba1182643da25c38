// A made job on a board with one power limit, driven through the governor in virtual time: an observation
// after each iteration, decisions that take effect at once.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "govern/rubato/governor.h"

namespace rubato::govern {

/// Limits of 100 to 300 W in steps of 10; 300 W is found.
inline plan::KnobSpace limits_to_300() {
  plan::KnobAxis axis{.knob = Knob::power_limit, .values = {}};
  for (double watts = 100; watts <= 300; watts += 10) axis.values.push_back(watts);
  return {
      .gpu = "a board", .axes = {axis}, .found = {.power_limit = 300_W}, .highest = {.power_limit = 300_W}};
}

/// Below what the job draws a limit lowers the clock with its root; a part of the time goes with the clock.
/// So a fifth makes 170 W the lowest limit inside 5 %: 4.7 % more time, 31.5 % less energy.
struct MadeJob {
  double unit = 0.1;     // s of an iteration where nothing holds it back
  double draws = 260;    // W, there
  double clocked = 0.2;  // part of the time

  [[nodiscard]] double time(double limit) const {
    return unit * (1 - clocked + clocked * std::sqrt(std::max(1.0, draws / limit)));
  }
  [[nodiscard]] double power(double limit) const { return std::min(draws, limit); }
};

constexpr double kBestFixed = 0.315;  // saved by a MadeJob at 170 W, the best limit inside 5 %

class DrivenRun {
 public:
  struct Change {
    std::int64_t iterations;
    BlockRole role;
    double limit;  // 300: the found one
    std::string why;
  };

  DrivenRun(GovernorOptions options, std::uint64_t seed)
      : governor_(std::move(options), Random(seed)), noise_(Random(seed).fork(7)) {}

  MadeJob job;
  double noise = 0.005;  // of one iteration, in time and in power
  int long_every = 0;    // such an iteration takes twice as long
  bool may_set = true;
  std::shared_ptr<const std::map<std::string, double>> features;

  void iterate(int count) {
    for (int i = 0; i < count; ++i) {
      const bool is_long = long_every > 0 && static_cast<int>(tally_.work) % long_every == 0;
      const double stir = (1 + noise * noise_.normal()) * (is_long ? 2 : 1);
      const double seconds = job.time(limit()) * stir;
      const double joules = seconds * job.power(limit()) * (1 + noise * noise_.normal());
      now_ = now_ + Seconds(seconds);
      tally_.work += 1;
      tally_.at = now_;
      tally_.energy = *tally_.energy + Joules(joules);
      at_found_seconds_ += job.time(300) * stir;
      at_found_joules_ += job.time(300) * stir * job.power(300);
      ask(true);
      worst_slowdown_ = std::max(worst_slowdown_, now_.since_epoch() > kFirst ? slowdown() : 0.0);
    }
  }
  /// The GPU stands still.
  void idle(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      now_ = now_ + 1_s;
      ask(false);
    }
  }
  /// The GPU works, and nothing tells of it.
  void go_unseen(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      now_ = now_ + 1_s;
      ask(true);
    }
  }
  /// By somebody else, or by the guard.
  void take_away() { in_force_ = {}; }

  [[nodiscard]] double limit() const { return in_force_.power_limit.value_or(300_W).value(); }
  [[nodiscard]] const Decision& last() const { return last_; }
  [[nodiscard]] std::optional<Expectation> expected() const { return governor_.expected(); }
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }
  [[nodiscard]] double slowdown() const { return now_.since_epoch() / Seconds(at_found_seconds_) - 1; }
  [[nodiscard]] double worst_slowdown() const { return worst_slowdown_; }  // at any moment after 300 s
  [[nodiscard]] double saving() const { return 1 - *tally_.energy / Joules(at_found_joules_); }
  [[nodiscard]] TimePoint now() const { return now_; }
  [[nodiscard]] std::vector<double> tried() const {
    std::vector<double> out;
    for (const Change& c : changes_)
      if (c.role == BlockRole::trial) out.push_back(c.limit);
    return out;
  }
  /// Iterations after which it first held anything; -1: never.
  [[nodiscard]] std::int64_t held_after() const {
    for (const Change& c : changes_)
      if (c.role == BlockRole::hold) return c.iterations;
    return -1;
  }
  [[nodiscard]] std::size_t with_words(std::string_view words) const {
    std::size_t n = 0;
    for (const Change& c : changes_) n += c.why.find(words) != std::string::npos ? 1 : 0;
    return n;
  }

 private:
  static constexpr Seconds kFirst{300};

  void ask(bool loaded) {
    const auto done = static_cast<std::int64_t>(tally_.work);
    last_ = governor_.next({.now = now_,
                            .run_begin = {},
                            .in_force = in_force_,
                            .under_load = loaded,
                            .iterations = done,
                            .last_iteration = tally_.at,
                            .state = {},
                            .highest_sm_clock = {},
                            .tally = tally_,
                            .features = features,
                            .shift = {},
                            .may_set = may_set});
    if (may_set && last_.action == Action::use_found) in_force_ = {};
    if (may_set && last_.action == Action::use_setting) in_force_ = last_.setting;
    if (changes_.empty() || changes_.back().role != last_.role || changes_.back().limit != limit() ||
        changes_.back().why != last_.why)
      changes_.push_back({done, last_.role, limit(), last_.why});
  }

  Governor governor_;
  Random noise_;
  TimePoint now_;
  Setting in_force_;
  Tally tally_{.work = 0, .at = {}, .energy = 0_J};
  double at_found_seconds_ = 0;
  double at_found_joules_ = 0;
  double worst_slowdown_ = 0;
  Decision last_;
  std::vector<Change> changes_;
};

inline GovernorOptions five_percent() {
  return {.goal = {.objective = Objective::energy, .max_slowdown = 0.05, .host_watts = {}},
          .space = limits_to_300(),
          .model = nullptr};
}

}  // namespace rubato::govern
