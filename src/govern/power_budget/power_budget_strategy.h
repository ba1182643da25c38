// A budget of watts for all boards of a run together, so divided that the job loses the least time: evenly at
// first, then by what was measured of each board. Limits alone are set; the budget is in force from the first
// of them on, so there is no baseline at the limits that were found, which are above it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "govern/board_warmth.h"
#include "govern/power_budget/board_meter.h"
#include "govern/power_budget/job_boards.h"
#include "govern/power_budget/share_search.h"
#include "govern/steady.h"
#include "govern/strategy.h"
#include "govern/stretch.h"

namespace rubato::govern {

inline constexpr std::string_view kPowerBudget = "power-budget";

class PowerBudgetStrategy final : public Strategy {
 public:
  explicit PowerBudgetStrategy(Watts budget) : budget_(budget) {}

  [[nodiscard]] std::string_view name() const override { return kPowerBudget; }
  [[nodiscard]] Decision next(const Observation& o) override;

 private:
  enum class Stage { gathering, inside, going, settling, measuring, holding };
  enum class Purpose { even, base, trial, hold };
  struct Tried {
    std::vector<Watts> shares;
    std::vector<BoardMean> means;
    std::vector<BoardMean> again;  // the second time; empty: not yet
  };

  [[nodiscard]] Decision gathering(const Observation& o);
  [[nodiscard]] Decision begin_evenly(const Observation& o);
  [[nodiscard]] Decision go(const Observation& o, std::vector<Watts> shares, Purpose purpose,
                            const std::string& why);
  [[nodiscard]] Decision going(const Observation& o);
  [[nodiscard]] Decision settling(const Observation& o);
  [[nodiscard]] Decision measuring(const Observation& o);
  [[nodiscard]] Decision measured(const Observation& o);
  [[nodiscard]] Decision tried(const Observation& o, std::vector<BoardMean> now);
  /// Of the latest three stretches, over the division before; nothing where it is none beyond doubt.
  [[nodiscard]] std::optional<ShareGain> gain_of(const Tried& tried) const;
  void forget_gains();
  [[nodiscard]] Decision propose(const Observation& o);
  [[nodiscard]] Decision hold(const Observation& o);

  void begin_stretch(const Observation& o);
  void look(const Observation& o);
  /// The boards' temperatures stand; always after some minutes.
  [[nodiscard]] bool warm(const Observation& o);
  [[nodiscard]] std::vector<BoardMean> means() const;
  /// What is not what was asked for: kept where it is inside the budget; false: the others have to make room.
  [[nodiscard]] bool take_what_was_granted(const Observation& o);
  [[nodiscard]] BlockRole role() const;
  [[nodiscard]] std::string outcome() const;
  [[nodiscard]] static Decision wait(BlockRole role, std::string why, std::optional<TimePoint> again = {});

  Watts budget_;
  Stage stage_ = Stage::gathering;
  Purpose purpose_ = Purpose::even;
  JobBoards boards_;
  std::optional<ShareSearch> search_;
  std::vector<Watts> shares_;  // asked for now, by member, as are the next four
  std::vector<Watts> best_;
  std::vector<BoardMean> base_;    // at best_, the latest
  std::vector<BoardMean> before_;  // and the one before that
  std::optional<Tried> tried_;     // not judged yet
  int divisions_kept_ = 0;         // since the even shares, or since the job changed
  double time_left_ = 1;           // of an iteration's, by those
  double square_of_error_ = 0;
  bool changed_ = false;
  std::vector<BoardMeter> meters_;
  Stretch stretch_;
  Steadiness steadiness_;
  TimePoint begun_;                  // of this set of boards
  std::vector<BoardWarmth> warmth_;  // by member
  TimePoint asked_;
  int asks_ = 0;
  std::string why_;
  TimePoint check_due_;
  Seconds check_after_{};
};

}  // namespace rubato::govern
