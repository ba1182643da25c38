// Whether a plan of clocks pays against the best single setting, from blocks of both in turns of one run, and
// whether that setting pays against the found one. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "govern/tally.h"

namespace rubato::govern {

struct PayoffRules {
  double max_slowdown = 0.05;  // against the found setting
  Watts host;                  // draws on for every second the job takes longer
  std::size_t fewest_pairs = 6;
  std::size_t most_pairs = 20;  // undecided after so many: the single setting
};

enum class Keep { plan, single, found };

struct PayoffVerdict {
  Keep keep = Keep::single;
  std::string why;  // a sentence, with the figures
};

/// Means per iteration of all blocks at one setting.
class ArmCosts {
 public:
  void add(const Cost& cost);
  [[nodiscard]] double work() const { return work_; }
  [[nodiscard]] std::optional<Seconds> time() const;
  [[nodiscard]] std::optional<Joules> energy() const;  // absent too where a block had none

 private:
  double work_ = 0;
  Seconds time_;
  std::optional<Joules> energy_{Joules(0)};
};

/// A second that the plan takes longer must buy what the single setting's seconds bought: joules saved for
/// each second lost against the found setting, as measured in this run, or the host's watts where these are
/// more. That is what "less energy at equal time" means here.
class Payoff {
 public:
  explicit Payoff(PayoffRules rules) : rules_(rules) {}

  void found(const Cost& cost) { found_.add(cost); }
  /// One block at the single setting, whatever it was held for.
  void held(const Cost& cost);
  /// Why it is not to be held any longer: it is seen, with 95 % confidence, to break the bound or to cost
  /// more than the found setting. Absent: not, or not yet.
  [[nodiscard]] std::optional<std::string> why_not_single() const;
  /// Two neighbouring blocks, in either order.
  void pair(const Cost& single, const Cost& plan);
  [[nodiscard]] std::size_t pairs() const { return pairs_.size(); }
  /// Absent: not decided yet.
  [[nodiscard]] std::optional<PayoffVerdict> verdict() const;
  /// The job is another one now: what the plan did to it is not known any more.
  void forget();

 private:
  struct Pair {
    Cost single;
    Cost plan;
  };
  [[nodiscard]] double slowdown(const ArmCosts& arm) const;
  [[nodiscard]] Watts price_of_a_second() const;
  /// Where the plan is not kept.
  [[nodiscard]] PayoffVerdict fall_back(const std::string& why) const;

  PayoffRules rules_;
  ArmCosts found_;
  ArmCosts single_;
  ArmCosts plan_;
  std::vector<Pair> pairs_;
  std::vector<Cost> held_;  // the latest
};

}  // namespace rubato::govern
