// The online optimiser. It measures the job at the found setting, tries a few others, holds the one that
// saves most inside the bound, and watches: control blocks at the found setting say whether the bound is
// kept, what was learned moves the setting on, and a job that changes is looked at anew. One state machine,
// pure: the same observations give the same decisions. docs/governor.md says what each state waits for and
// why.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "govern/board_warmth.h"
#include "govern/registry.h"
#include "govern/rubato/control_blocks.h"
#include "govern/rubato/curves_ahead.h"
#include "govern/rubato/program.h"
#include "govern/rubato/setting_log.h"
#include "govern/rubato/spending_rules.h"
#include "govern/rubato/visit.h"
#include "govern/steady.h"
#include "govern/strategy.h"
#include "govern/stretch.h"
#include "plan/spending.h"

namespace rubato::govern {

struct GovernorOptions {
  Goal goal;
  plan::KnobSpace space;
  std::shared_ptr<const predict::Model> model;  // null: physics alone
  bool shares = true;                           // time between two settings, where the curve has a hole
  std::optional<TimePoint> deadline = {};
  std::optional<Remembered> remembered = {};
  unsigned gpus = 1;  // whose energy a tally holds
};

class Governor final : public Strategy {
 public:
  Governor(GovernorOptions options, Random random);

  [[nodiscard]] std::string_view name() const override { return options_.shares ? "rubato" : "rubato-fixed"; }
  [[nodiscard]] Decision next(const Observation& o) override;
  [[nodiscard]] std::optional<Expectation> expected() const override;
  [[nodiscard]] std::optional<Left> left() const override;

 private:
  enum class Stage { no_load, warming, visiting, unseen, ended };
  enum class Purpose { baseline, trial, confirm, hold, check, control, verify };

  void follow(const Observation& o);
  [[nodiscard]] std::size_t in_force(const Observation& o) const;
  [[nodiscard]] Decision no_load(const Observation& o);
  [[nodiscard]] Decision warming(const Observation& o);
  [[nodiscard]] Decision visiting(const Observation& o);
  /// Nothing tells of the job's work any more: what a setting costs it cannot be seen, so none is in force.
  [[nodiscard]] bool silent(const Observation& o) const;
  void fall_silent(const Observation& o);
  [[nodiscard]] Decision unseen(const Observation& o);
  /// For good: at the found setting, and why.
  [[nodiscard]] Decision end(std::string why);
  [[nodiscard]] bool near_the_deadline(const Observation& o) const;

  [[nodiscard]] bool enough(const Observation& o, const StretchNeeds& needs) const;
  [[nodiscard]] bool whole(const Observation& o);
  /// What is held costs something else than it did, seen before the stretch is whole.
  [[nodiscard]] bool changed_meanwhile();
  /// Where the visit's measurement leads.
  [[nodiscard]] Decision finished(const Observation& o);
  [[nodiscard]] Decision after_baseline(const Observation& o, const StretchMean& mean);
  [[nodiscard]] Decision search(const Observation& o);
  /// As the program whose setting is remembered.
  [[nodiscard]] bool looks_alike(const Observation& o) const;
  /// The best setting there is would be slower than the bound allows, as far as is known.
  [[nodiscard]] bool bound_matters() const;
  /// The found setting once more.
  [[nodiscard]] Decision confirm(const Observation& o, std::string why);
  [[nodiscard]] Decision begin_to_hold(const Observation& o);
  [[nodiscard]] Decision held(const Observation& o);
  [[nodiscard]] Decision hold(const Observation& o);
  [[nodiscard]] Decision go(const Observation& o, std::size_t setting, Purpose purpose, std::string why);

  [[nodiscard]] bool make_program(const Observation& o, const StretchMean& baseline);
  /// What a program may be, by what is known of its found setting so far.
  [[nodiscard]] predict::Known known_of(const Observation& o, const StretchMean& at_found) const;
  /// In the latter half of a baseline.
  void draw_ahead(const Observation& o);
  void choose(const Observation& o);
  /// Of two that share the time, the one whose turn it is.
  void take_turn(const Observation& o, const plan::Account& account);
  /// A setting that is worth a look, if that can be paid: every other time the one that is expected to gain
  /// most, and where there is none, one that may be better.
  [[nodiscard]] std::optional<std::size_t> to_check(const Observation& o);
  /// Of the settings of which a look can be paid, the one that is expected to gain most beside those that are
  /// known, more than is lost while it lasts.
  [[nodiscard]] std::optional<std::size_t> expected_to_gain(const Observation& o) const;
  /// A setting that might be worth more than the one held, if it is what it may be.
  [[nodiscard]] std::optional<std::size_t> may_be_better(const Observation& o) const;
  /// Log time over the found setting's that a clock may take at most: work that waits for nothing but the
  /// clock takes as much longer as the clock is lower.
  [[nodiscard]] double slowest_by_clock(std::size_t setting, const std::vector<std::size_t>& measured) const;
  [[nodiscard]] std::vector<std::size_t> measured_settings() const;
  /// Whether a look at a setting is paid for by what is left of the budget now. `own_part`: see
  /// SpendingRules.
  [[nodiscard]] bool can_pay_look(const Observation& o, std::size_t setting,
                                  const std::vector<std::size_t>& measured, const plan::Account& account,
                                  double own_part) const;
  [[nodiscard]] plan::Account account() const;
  /// The slowdown that the present program is given of it, with all that come back at one price of a second;
  /// nothing where that gains nothing.
  [[nodiscard]] std::optional<double> given(const plan::Account& account) const;
  /// The account with no more left in it than that.
  [[nodiscard]] static plan::Account share_of_account(plan::Account all, std::optional<double> given);
  /// What others are about to lose of it, over what is ahead.
  [[nodiscard]] double reserved(const plan::Account& account) const;
  [[nodiscard]] plan::SpendingRules rules() const { return spending_rules(program(), add_up()); }
  /// Standard error of the seconds lost so far.
  [[nodiscard]] double lost_error() const;
  /// A job that ran several programs may have changed unnoticed as well.
  [[nodiscard]] Errors add_up() const { return programs_.size() > 1 ? Errors::as_one : Errors::of_the_sum; }
  /// Whether control blocks at the highest rate pay.
  [[nodiscard]] bool worth_controlling() const;
  /// Of a control block, with what drains before and after it.
  [[nodiscard]] Seconds control_length() const;

  /// The job took another time or power than it should have: it changed, or its cost did.
  [[nodiscard]] bool surprising(const StretchMean& mean) const;
  [[nodiscard]] Decision after_surprise(const Observation& o, const StretchMean& mean);
  [[nodiscard]] Decision verified(const Observation& o, const StretchMean& mean);
  enum class Verdict {
    same,      // the program it was
    stray,     // a stretch that is not believed
    contrary,  // the same program, but the setting costs something else than was known
    other,     // another program
  };
  /// Of what surprised, given what the found setting costs now.
  [[nodiscard]] Verdict verdict(const StretchMean& now) const;
  /// What surprised was held, at a setting that is known, and is the first of its kind.
  [[nodiscard]] bool stray_at_most() const;
  /// Another program that costs at the present setting what was seen; nothing where none does or several do.
  [[nodiscard]] std::optional<std::size_t> recognised(const StretchMean& mean) const;
  /// The program seen before that costs this at the found setting.
  [[nodiscard]] std::optional<std::size_t> known_at_found(const StretchMean& now) const;
  void take_up(std::size_t to);
  /// Another program takes the present one's place.
  void leave();
  /// The program's era goes on where a stretch shows the cost it had when it was last seen; else a new one
  /// begins.
  void date(std::size_t setting, const StretchMean& mean);
  /// What surprised was another program, which takes so long at the found setting: what it lost before it was
  /// noticed is known by itself.
  void book_surprise(double log_time_at_found);
  [[nodiscard]] Decision back_at(const Observation& o, std::size_t to, const StretchMean& now);
  /// A baseline that was meant for a new program is of one seen before: the new one is over already.
  [[nodiscard]] std::optional<std::size_t> over_already(const StretchMean& baseline) const;
  /// The job costs something else at the found setting: as it did before, or as a variant of the program that
  /// takes over what is known of it.
  void vary(const StretchMean& now);
  /// The found setting costs something else than when it was last seen.
  [[nodiscard]] bool moved(const StretchMean& now) const;
  [[nodiscard]] bool moved_in_time(const StretchMean& now) const;
  /// How far apart logarithms of time or power at the found setting may be with nothing having changed.
  [[nodiscard]] double unchanged(const StretchMean& now) const;
  /// Where the surprise interrupted.
  [[nodiscard]] Decision go_on(const Observation& o);

  [[nodiscard]] Program& program() { return *programs_[current_]; }
  [[nodiscard]] const Program& program() const { return *programs_[current_]; }
  [[nodiscard]] std::string describe_setting(std::size_t setting) const;

  GovernorOptions options_;
  Random random_;
  std::vector<predict::KnobPoint> settings_;
  std::size_t found_ = 0;

  Stage stage_ = Stage::no_load;
  std::string why_;
  Stretch warm_up_;
  Steadiness steadiness_;
  BoardWarmth warmth_;
  std::optional<TimePoint> idle_since_;

  Visit visit_;
  Purpose purpose_ = Purpose::baseline;
  std::size_t target_ = 0;
  SettingLog settings_in_force_;
  std::optional<Tally> last_tally_;
  unsigned silences_ = 0;  // in a row, without a whole stretch at another setting between them
  TimePoint seen_again_;   // not before this moment

  CurvesAhead ahead_;                               // of the program whose baseline is measured
  std::vector<std::unique_ptr<Program>> programs_;  // all the run has shown
  std::size_t current_ = 0;
  int era_ = 0;                          // the latest of all programs
  std::optional<StretchMean> surprise_;  // measured where the job was held when it changed
  std::size_t surprise_at_ = 0;
  std::optional<StretchMean> new_program_;  // what it cost at the found setting when it was noticed
  Purpose surprised_ = Purpose::hold;       // what for it was measured
  unsigned strays_ = 0;                     // stretches held in a row that surprised and were not believed
  unsigned anew_ = 0;                       // stretches in a row that the job changed in
  double glanced_at_ = 0;                   // of the work of the stretch held
  std::size_t chosen_ = 0;
  plan::Account unnoticed_;  // programs that ran at settings meant for others, and what was lost beside
  Beside beside_;
  std::optional<plan::Spending::Share> share_;
  TimePoint dwell_until_;  // at one of the two that share
  double next_review_ = 0;
  ControlBlocks controls_;
  bool worth_controlling_ = false;
  /// The found setting showed that the job changed at some moment since it was seen before.
  bool changed_unseen_ = false;
  /// A program was taken up without going back to the found setting, and no whole stretch was held since.
  bool recognised_before_ = false;
};

}  // namespace rubato::govern
