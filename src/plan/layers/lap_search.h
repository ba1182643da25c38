// The cheapest way through one iteration at a given price of a second: dynamic programming backwards over
// segments, with switching counted as run_iteration() counts it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/layers/segments.h"

namespace rubato::plan {

/// What is made small: energy * joules + time * seconds, the host's joules among the joules.
struct Weights {
  double energy = 1;
  double time = 0;  // the price of a second beyond the host's
};

/// Of laps that begin at segment `origin` with no change under way and the dwell over. In such a lap a change
/// is a leap: from a request to the first segment begin after its tail, at which another may be asked for.
class LapSearch {
 public:
  /// may_change[i]: a change may be asked for at segment i.
  LapSearch(const SegmentTable& table, const Switching& switching, Watts host,
            const std::vector<bool>& may_change, std::size_t origin);

  /// Costs to the end from every segment and setting. The lap must end at setting `end`; absent: at any,
  /// which is never dearer than a lap that ends where it began.
  void solve(const Weights& weights, std::optional<std::size_t> end);

  /// Of solve(): from (segment of this lap, setting) to the end. Infinite: no way.
  [[nodiscard]] double to_go(std::size_t segment, std::size_t setting) const {
    return to_go_[segment * stride_ + setting];
  }
  [[nodiscard]] std::vector<double> all_to_go() const { return to_go_; }
  [[nodiscard]] std::size_t cheapest_start() const;

  struct Path {
    std::vector<std::size_t> setting;  // by the table's segment
    std::size_t end = 0;
  };
  [[nodiscard]] Path path_from(std::size_t start) const;

  struct Leap {
    std::size_t segment = 0;  // of this lap, at which the next change may be asked for
    std::size_t setting = 0;
    double time = 0;
    double energy = 0;  // with the host's
  };
  /// Every way on from (segment, setting), staying first; by LapSearch's own numbers. For label_search().
  void ways_on(std::size_t segment, std::size_t setting, std::vector<Leap>& out) const;

  [[nodiscard]] std::size_t segments() const { return segments_; }
  [[nodiscard]] std::size_t settings() const { return settings_; }
  [[nodiscard]] std::size_t stride() const { return stride_; }
  [[nodiscard]] std::size_t segment_of(std::size_t lap_segment) const {
    return (lap_segment + origin_) % segments_;
  }

 private:
  /// Targets that changes from one setting reach after the same delay and stall.
  struct Group {
    double delay = 0;
    double stall = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  /// Groups of one setting with neighbouring delays: passed over together where none of them can pay.
  struct Bin {
    std::size_t begin = 0;  // in groups_
    std::size_t end = 0;
  };
  /// Where a tail ends.
  struct Tail {
    std::size_t segment = 0;
    double rest = 0;    // share of that segment which the new clocks do
    double energy = 0;  // until there, at the old ones
    bool possible = false;
  };

  void group_targets(const Switching& switching);
  void bin_groups();
  /// Where an array by setting and segment begins.
  [[nodiscard]] std::size_t of(std::size_t setting) const { return setting * (segments_ + 1); }
  [[nodiscard]] Tail tail(std::size_t segment, std::size_t from, const Group& group, std::size_t last) const;
  /// The last segment in [low, high] that begins before `target`, counted at the setting's own pace.
  [[nodiscard]] std::size_t last_before(double target, std::size_t from, std::size_t low,
                                        std::size_t high) const;
  /// Segment begins from the tail's end on until the dwell is over. Nothing: not in this lap.
  [[nodiscard]] std::optional<std::size_t> free_at(const Tail& tail, const Group& group,
                                                   std::size_t to) const;
  [[nodiscard]] double cost_between(std::size_t begin, std::size_t end, std::size_t setting) const;
  [[nodiscard]] double base(const Tail& tail, const Group& group) const;
  [[nodiscard]] const std::vector<double>& arrived() const { return wait_ > 0 ? after_wait_ : to_go_; }

  // lap_leaps.cpp
  void begin_bounds();
  [[nodiscard]] double spent(std::size_t segment, std::size_t setting) const;
  void bound_tails(std::size_t segment);
  void bound_arrivals(std::size_t segment);
  void leaps_from(std::size_t segment);
  void leaps_of(std::size_t segment, std::size_t from);
  void leap(std::size_t segment, std::size_t from, std::size_t number, std::size_t last);
  [[nodiscard]] std::optional<std::size_t> edge(std::size_t number, std::size_t segment, std::size_t from);
  void leaps_in(const Bin& bin, std::size_t segment, std::size_t from, std::size_t first, std::size_t last);
  [[nodiscard]] double least_leap(const Tail& tail, const Group& group) const;

  void wait_at(std::size_t segment);

  std::size_t segments_;
  std::size_t settings_;
  std::size_t stride_;  // settings_, rounded up for the inner loop; what is added costs infinitely much
  std::size_t origin_;
  double stalled_;  // W, with the host's
  double dwell_;
  double wait_;  // dwell that no tail covers
  /// Few settings and segments: the dwell ends to the instant. Many: it is counted from the end of the
  /// segment in which the tail ends, up to one segment too long, so that it does not depend on where the
  /// change came from.
  bool exact_wait_;
  std::vector<char> may_change_;
  std::vector<double> time_, energy_;                // [segment][setting]
  std::vector<double> time_before_, energy_before_;  // [setting][segment]: sums over earlier segments
  std::vector<std::uint32_t> holes_before_;  // segments a setting cannot run at; empty: there are none
  std::vector<Group> groups_;
  std::vector<std::size_t> groups_of_;  // first group of each setting, and the end
  std::vector<Bin> bins_;
  std::vector<std::size_t> bins_of_;  // first bin of each setting, and the end
  std::vector<double> edges_;         // delays: of each bin's first group, and of each setting's last one
  std::vector<std::uint32_t> only_target_;  // of a group; settings_: it has several
  std::size_t block_ = 1;                   // segments

  Weights weights_;
  std::vector<double> cost_, to_go_, after_wait_;
  std::vector<double> least_cost_, least_arrived_;  // of a row
  /// [setting][segment]: no leap whose tail ends in this segment or a later one costs less, but for what was
  /// spent before it began: the cost of all segments before that.
  std::vector<double> tail_bound_;
  std::vector<double> excess_;  // [block of segments][setting]: above least_arrived_ at the least
  std::vector<std::size_t> edge_hint_, favourite_, favourite_end_, wait_hint_;
  std::optional<double> at_once_;  // without delay every setting leaps to the same place: looked up once
};

}  // namespace rubato::plan
