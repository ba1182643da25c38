// A training on several nodes, governed for a whole run in virtual time: boards that differ, iterations that
// scatter, sensors and sessions that speak late, and the agents' own network between them. What is asked and
// what is then done is the product's own code (conduct/agreement.h, the leader, the members, the governor).
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "agent/made_network.h"
#include "base/random.h"
#include "conduct/agreement.h"
#include "govern/rubato/governor.h"

namespace rubato::agent {

struct GovernedOptions {
  std::uint64_t seed = 1;
  std::int64_t ranks = 4;
  double unit = 0.4;     // s of an iteration on an average board where nothing holds it back
  double clocked = 0.4;  // part of it that goes with the SM clock
  double max_slowdown = 0.05;
  NetworkOptions network{};
  bool agents = true;               // false: one node, whose GPUs switch together and at once
  bool own_clocks = false;          // ranks that wait for others get lower clocks
  double uneven = 0.04;             // boards of one kind, in time and in power
  double straggling = 0;            // so much more work one rank has
  std::int64_t straggles_from = 0;  // iteration
};

/// Jobs of two to eight ranks, of long and short iterations, that the bound limits sooner or later.
inline GovernedOptions drawn_job(std::uint64_t seed) {
  Random drawn(1000 + seed);
  GovernedOptions out{.seed = seed, .ranks = 2 + static_cast<std::int64_t>(seed % 7)};
  out.unit = drawn.uniform(0.2, 1.0);
  out.clocked = drawn.uniform(0.15, 0.6);
  out.network.delay = Seconds(out.unit / 2);
  return out;
}

class GovernedJob {
 public:
  static constexpr double kHighest = 1380;  // MHz

  explicit GovernedJob(const GovernedOptions& options)
      : options_(options),
        noise_(Random(options.seed).fork(7)),
        network_(options.network, options.seed, options.ranks),
        governor_(governing(options), Random(options.seed)) {
    for (std::int64_t rank = 0; rank < options.ranks; ++rank)
      ranks_.push_back({.slower = 1 + noise_.uniform(-options.uneven, options.uneven),
                        .hungrier = 1 + noise_.uniform(-options.uneven, options.uneven)});
    if (options.own_clocks) clocks_.emplace(govern::SlackTaker(governing(options).space.axes.front().values));
  }

  void iterate(int count) {
    for (int i = 0; i < count; ++i) iterate();
  }

  /// Of the job, which is its slowest rank, over the same iterations at the found setting.
  [[nodiscard]] double slowdown() const { return end_.since_epoch() / Seconds(found_seconds_) - 1; }
  /// The same at the worst moment after the first five minutes.
  [[nodiscard]] double worst_slowdown() const { return worst_; }
  [[nodiscard]] double saving() const {
    double drawn = 0;
    for (const Rank& rank : ranks_) drawn += rank.joules;
    return 1 - drawn / found_joules_;
  }
  [[nodiscard]] const Leader& leader() const { return network_.leader(); }
  /// Iterations that ran with two settings in force.
  [[nodiscard]] int parted() const { return parted_; }
  /// Of ranks with clocks of their own.
  [[nodiscard]] const govern::SlackTaker& taker() const { return clocks_->taker(); }

 private:
  static constexpr double kNoise = 0.005;  // of one iteration
  static constexpr double kWaiting = 0.7;  // of a rank's power while it waits for the others
  static constexpr double kIdle = 0.24;    // of the power at the highest clock
  static constexpr double kFullWatts = 250;
  static constexpr Seconds kSensorLate{0.2};  // two updates
  // A session reads marks four times a second, and ten times an iteration where a switch is near.
  static constexpr double kLooksLate = 0.25;
  static constexpr double kLooksLateNear = 0.1;

  struct Rank {
    double slower = 1;
    double hungrier = 1;
    Setting in_force{};
    Setting before{};                   // at the begin of the iteration under way
    std::optional<Seconds> switched{};  // since its begin
    double joules = 0;
    std::deque<govern::Tally> told{};  // iterations that sensors have not caught up with
    std::optional<govern::Tally> tally{};
  };

  static govern::GovernorOptions governing(const GovernedOptions& options) {
    plan::KnobAxis axis{.knob = Knob::sm_clock, .values = {}};
    for (double mhz = 630; mhz <= kHighest; mhz += 15) axis.values.push_back(mhz);
    const predict::KnobPoint highest{.sm_clock = Megahertz(kHighest)};
    return {.goal = {.objective = Objective::energy, .max_slowdown = options.max_slowdown, .host_watts = {}},
            .space = {.gpu = "a board", .axes = {axis}, .found = highest, .highest = highest},
            .model = nullptr,
            .gpus = static_cast<unsigned>(options.ranks)};
  }

  static double share(const Setting& setting) {
    return setting.sm_clock ? setting.sm_clock->max.value() / kHighest : 1.0;
  }
  [[nodiscard]] double seconds(const Rank& rank, const Setting& setting) const {
    return options_.unit * rank.slower * (1 - options_.clocked + options_.clocked / share(setting));
  }
  static double watts(const Rank& rank, const Setting& setting) {
    // Voltage goes about with the square root of the clock over this range: P ~ f V^2 is f^2, and steeper
    // above.
    return rank.hungrier * kFullWatts * (kIdle + (1 - kIdle) * std::pow(share(setting), 2.4));
  }

  /// The ranks see the end of the iteration before while this one runs.
  void iterate() {
    const TimePoint begin = end_;
    std::multimap<TimePoint, std::size_t> looks;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      ranks_[i].before = ranks_[i].in_force;
      ranks_[i].switched.reset();
      const bool near = options_.agents && network_.switches_at(static_cast<std::int64_t>(i)).has_value();
      const double late = near ? kLooksLateNear * options_.unit : std::min(kLooksLate, options_.unit / 2);
      looks.emplace(begin + Seconds(late * network_.random().uniform()), i);
    }
    for (const auto& [at, i] : looks) {
      network_.run_until(at);
      if (options_.agents)
        look(i);
      else if (i == 0)
        look_alone();
    }
    const auto apart = [this](const Rank& rank) { return rank.in_force != ranks_.front().in_force; };
    parted_ += std::any_of(ranks_.begin(), ranks_.end(), apart) ? 1 : 0;
    run(begin);
    network_.run_until(end_);
  }

  void run(TimePoint begin) {
    if (completed_ == options_.straggles_from) ranks_.back().slower *= 1 + options_.straggling;
    const double all = 1 + kNoise * noise_.normal();
    std::vector<double> own;
    std::vector<double> at_found;
    double longest = 0;
    double longest_at_found = 0;
    for (const Rank& rank : ranks_) {
      const double stir = all * (1 + kNoise * noise_.normal());
      double time = seconds(rank, rank.in_force) * stir;
      if (rank.switched) {
        const double early = rank.switched->value();
        time = early + (1 - early / (seconds(rank, rank.before) * stir)) * time;
      }
      own.push_back(time);
      longest = std::max(longest, time);
      at_found.push_back(seconds(rank, {}) * stir);
      longest_at_found = std::max(longest_at_found, at_found.back());
    }
    end_ = begin + Seconds(longest);
    ++completed_;
    found_seconds_ += longest_at_found;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      Rank& rank = ranks_[i];
      const double early = rank.switched ? rank.switched->value() : 0;
      rank.joules += watts(rank, rank.before) * early +
                     watts(rank, rank.in_force) * (own[i] - early + kWaiting * (longest - own[i]));
      found_joules_ += watts(rank, {}) * (at_found[i] + kWaiting * (longest_at_found - at_found[i]));
      rank.told.push_back({.work = static_cast<double>(completed_),
                           .at = end_ + Seconds(1000.0 * static_cast<double>(i)),  // a clock of its own
                           .energy = Joules(rank.joules)});
    }
    if (end_.since_epoch() > Seconds(300)) worst_ = std::max(worst_, slowdown());
  }

  govern::Observation observe(std::size_t i) {
    Rank& rank = ranks_[i];
    const TimePoint own_now = network_.now() + Seconds(1000.0 * static_cast<double>(i));
    while (!rank.told.empty() && rank.told.front().at <= own_now - kSensorLate) {
      rank.tally = rank.told.front();
      rank.told.pop_front();
    }
    govern::Observation o;
    o.now = network_.now();
    o.in_force = rank.in_force;
    o.under_load = completed_ > 0;
    o.iterations = completed_;
    if (completed_ > 0) o.last_iteration = end_;
    o.tally = rank.tally;
    o.may_set = true;
    return o;
  }

  void apply(Rank& rank, const govern::Decision& decision) {
    if (decision.action == govern::Action::wait) return;
    const Setting wanted = decision.action == govern::Action::use_setting ? decision.setting : Setting{};
    if (wanted == rank.in_force) return;
    rank.in_force = wanted;
    rank.switched = network_.now() - end_;
  }

  void look(std::size_t i) {
    const govern::Observation o = observe(i);
    if (i == 0)
      apply(ranks_[i], conduct::lead(network_.leader(), {true, Seconds(options_.unit)}, governor_, o,
                                     clocks_ ? &*clocks_ : nullptr));
    else
      apply(ranks_[i], conduct::obey(network_.member(static_cast<std::int64_t>(i)), true, {}, o));
    network_.deliver_new();
  }

  void look_alone() {
    govern::Observation o = observe(0);
    for (std::size_t i = 1; i < ranks_.size(); ++i) {
      const auto other = observe(i).tally;
      if (o.tally && other) *o.tally->energy += *other->energy;
    }
    const govern::Decision decision = governor_.next(o);
    for (Rank& rank : ranks_) apply(rank, decision);
  }

  GovernedOptions options_;
  Random noise_;
  MadeNetwork network_;
  govern::Governor governor_;
  std::optional<conduct::RankClocks> clocks_;
  std::vector<Rank> ranks_;
  TimePoint end_;
  std::int64_t completed_ = 0;
  double found_seconds_ = 0;
  double found_joules_ = 0;
  double worst_ = 0;
  int parted_ = 0;
};

}  // namespace rubato::agent
