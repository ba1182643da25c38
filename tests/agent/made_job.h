// A job of synchronous training in virtual time, whose settings are asked for from outside.
#pragma once

#include <map>
#include <set>

#include "agent/made_network.h"

namespace rubato::agent {

inline Setting clock_of(double mhz) {
  return {.sm_clock = ClockRange{Megahertz(mhz), Megahertz(mhz)}};
}

struct MadeOptions {
  std::uint64_t seed = 1;
  std::int64_t ranks = 4;
  Seconds iteration{0.4};
  NetworkOptions network{};
  Seconds looks_late{0.05};  // until a rank sees that an iteration has ended, up to
};

class MadeJob {
 public:
  explicit MadeJob(const MadeOptions& options)
      : options_(options), network_(options.network, options.seed, options.ranks) {}

  /// One iteration of the whole job; its ranks look at it one after the other while messages travel.
  void iterate() {
    ++completed_;
    began_ = network_.now();
    const TimePoint end = began_ + options_.iteration;
    std::multimap<TimePoint, std::int64_t> looks;
    for (std::int64_t rank = 0; rank < options_.ranks; ++rank)
      looks.emplace(end + options_.looks_late * network_.random().uniform(), rank);
    for (const auto& [at, rank] : looks) {
      network_.run_until(at);
      look(rank);
    }
  }

  void want(const Setting& setting) { wanted_ = setting; }
  void kill(std::int64_t rank) { network_.kill(rank); }
  void forbid(std::int64_t rank, bool forbidden) {
    if (forbidden)
      forbidden_.insert(rank);
    else
      forbidden_.erase(rank);
  }

  [[nodiscard]] std::set<double> clocks() const {  // 0: the found setting
    std::set<double> out;
    for (std::int64_t rank = 0; rank < options_.ranks; ++rank)
      if (!network_.dead(rank)) out.insert(clock(rank));
    return out;
  }
  [[nodiscard]] Leader& leader() { return network_.leader(); }
  [[nodiscard]] int unacknowledged() const { return network_.unacknowledged(); }
  /// Settings in force while an iteration ran, by the last look of each rank at the one before.
  [[nodiscard]] const std::map<std::int64_t, std::set<double>>& history() const { return history_; }

 private:
  [[nodiscard]] double clock(std::int64_t rank) const {
    const auto clock = network_.agreed(rank).sm_clock;
    return clock ? clock->max.value() : 0.0;
  }

  void look(std::int64_t rank) {
    if (network_.dead(rank)) return;
    Report report{.iterations = completed_,
                  .by_marks = true,
                  .may_set = !forbidden_.contains(rank),
                  .under_load = true};
    report.tally =
        govern::Tally{.work = static_cast<double>(completed_),
                      .at = began_ + options_.iteration + Seconds(1000.0 * static_cast<double>(rank)),
                      .energy = Joules(100.0 * static_cast<double>(completed_ * (rank + 1)))};
    if (rank == 0) {
      Leader& leader = network_.leader();
      report.epoch = leader.epoch();
      leader.see(report, options_.iteration, network_.now());
      if (leader.why_not().empty()) leader.want(wanted_, network_.now());
    } else {
      Member& member = network_.member(rank);
      member.see(report, member.agreed(), network_.now());
    }
    history_[completed_].insert(clock(rank));
    network_.deliver_new();
  }

  MadeOptions options_;
  MadeNetwork network_;
  TimePoint began_;
  std::set<std::int64_t> forbidden_;
  Setting wanted_;
  std::int64_t completed_ = 0;
  std::map<std::int64_t, std::set<double>> history_;
};

}  // namespace rubato::agent
