// Runs a published search on a live job: waits for load and steadiness, measures the baseline and each try it
// asks for, holds what it chose, and measures on while holding so that it may search again.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/objective.h"
#include "govern/clock_lock.h"
#include "govern/reference/budget_spender.h"
#include "govern/reference/search.h"
#include "govern/registry.h"
#include "govern/steady.h"
#include "govern/strategy.h"
#include "govern/stretch.h"

namespace rubato::govern {

struct SearchRun {
  plan::KnobSpace space;
  bool found_clock_stated = false;  // the user gave --found-sm-clock
  Goal goal;                        // whose budget is spent
  bool spends_budget = false;       // after the search
  std::uint64_t seed = 0;
};

/// Where the sensor has no period (a replayed table) there is nothing to warm up for and no lock to suspect:
/// the baseline begins at once. The searches react to what they measure, not to Observation::shift.
class SearchStrategy final : public Strategy {
 public:
  SearchStrategy(std::string name, std::unique_ptr<Search> search, SearchRun run);

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] Decision next(const Observation& o) override;

 private:
  enum class Stage { no_load, warming, going, settling, measuring, refused };
  enum class Purpose { baseline, trial, hold, control };

  [[nodiscard]] Decision no_load(const Observation& o);
  [[nodiscard]] Decision warming(const Observation& o);
  [[nodiscard]] Decision begin_search(const Observation& o, std::string_view why);
  void aim_at(const Setting& target);
  [[nodiscard]] Decision go(const Observation& o, std::string why);
  [[nodiscard]] Decision going(const Observation& o);
  [[nodiscard]] Decision arrive(const Observation& o, bool drain);
  [[nodiscard]] Decision settling(const Observation& o);
  [[nodiscard]] Decision measuring(const Observation& o);
  [[nodiscard]] Decision measured(const Observation& o, const Cost& cost);
  [[nodiscard]] Decision held(const Observation& o, const Cost& cost);
  [[nodiscard]] Decision spent(const Observation& o, const Cost& cost);
  void follow(const Observation& o);
  [[nodiscard]] Decision ask_search(const Observation& o);
  [[nodiscard]] Decision refuse(const Observation& o, std::string why);

  [[nodiscard]] bool arrived(const Observation& o) const;
  [[nodiscard]] BlockRole role() const;
  [[nodiscard]] bool sets_clocks() const;

  std::string name_;
  std::unique_ptr<Search> search_;
  SearchRun run_;

  Stage stage_ = Stage::no_load;
  Purpose purpose_ = Purpose::baseline;
  Setting target_;  // empty: the found setting
  SearchStep step_;
  TrialLength length_;
  std::vector<TrialResult> seen_;
  std::string why_;

  Setting before_;                // in force when target_ was asked for first
  std::optional<Setting> taken_;  // what the GPU made of target_, once it is there
  int asked_times_ = 0;
  TimePoint asked_;
  bool drain_ = false;

  Stretch stretch_;
  std::optional<Tally> from_;
  // Of a run that spends its budget. Settings as the spender counts them.
  std::optional<BudgetSpender> spender_;
  StretchMeter meter_;
  std::optional<Tally> followed_;
  std::size_t place_ = 0;    // what target_ is
  std::size_t chosen_ = 0;   // what the search holds
  std::vector<Cost> first_;  // measured at each

  Steadiness steadiness_;
  ClockLockEvidence lock_;
  std::optional<TimePoint> idle_since_;
};

/// Under the name of its variant.
[[nodiscard]] std::unique_ptr<Strategy> run_search(std::string_view name, const StrategyRequest& request,
                                                   Variant variant, std::unique_ptr<Search> search);

}  // namespace rubato::govern
