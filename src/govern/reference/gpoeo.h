// GPOEO (Wang et al., TPDS 33(11), 2022) as its public code searches: a start that a model predicts, memory
// clocks first, then a bracket and a golden section over SM clocks, smoothed; watched by the power's spread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "govern/reference/gears.h"
#include "govern/reference/gpoeo_rules.h"
#include "govern/reference/power_spread.h"
#include "govern/reference/score.h"
#include "govern/reference/search.h"
#include "predict/model.h"

namespace rubato::govern {

struct GpoeoOptions {
  std::shared_ptr<const predict::Model> model;  // null: the search starts at the found setting
  PowerSpreadOptions spread;
  double tie = 0.01;       // GearRange::tie
  double all_again = 0.5;  // from this spread on the start is predicted anew; below, the held gear is it
  // Four seconds after a change, then one detection of the period: ten seconds, and 5.3 periods.
  TrialLength length{.settle = 4_s, .time = 10_s, .work = 5.3};
};

class Gpoeo final : public Search {
 public:
  /// The gears are `axis`; a memory clock axis besides it is searched first.
  Gpoeo(GpoeoOptions options, plan::KnobSpace space, std::size_t axis, const Aim& aim);

  [[nodiscard]] std::string_view name() const override { return "gpoeo"; }
  [[nodiscard]] TrialLength baseline() const override { return options_.length; }
  void features(const std::map<std::string, double>& read) override { features_ = read; }
  [[nodiscard]] SearchStep next(std::span<const TrialResult> seen) override;
  [[nodiscard]] bool again(const Cost& held) override;
  [[nodiscard]] TrialLength watch() const override;

 private:
  struct Place {
    std::size_t gear = 0;
    std::size_t memory = 0;
    bool operator==(const Place&) const = default;
  };
  [[nodiscard]] Place start_from(const TrialResult& baseline) const;
  [[nodiscard]] Place predicted(const TrialResult& baseline) const;
  [[nodiscard]] Place place_of(const TrialResult& result) const;
  [[nodiscard]] predict::KnobPoint point(const Place& place) const;
  [[nodiscard]] SearchStep step(SearchStep::Kind kind, const Place& place, std::string why) const;

  GpoeoOptions options_;
  plan::KnobSpace space_;
  Gears gears_;
  std::optional<Gears> memory_;
  Aim aim_;
  std::map<std::string, double> features_;
  PowerSpread spread_;
  Seconds period_;
  Place start_;
  std::optional<Place> held_;
  bool from_held_ = false;
};

}  // namespace rubato::govern
