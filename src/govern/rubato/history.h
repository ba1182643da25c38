// The stretches of one program measured so far, few enough to be weighed together at any length of the run.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "govern/rubato/contrasts.h"
#include "govern/rubato/stretch_meter.h"
#include "plan/curve_belief.h"

namespace rubato::govern {

class History {
 public:
  explicit History(std::size_t found) : found_(found), contrasts_(found) {}

  /// `era`: between two eras the job's own cost jumped; within one it drifts at most.
  void add(std::size_t setting, const StretchMean& mean, int era);
  /// A look at a setting that is not known yet: it counts like any other, but whether the job changed just
  /// before it only what comes next tells. `believe` keeps such looks, `forget_looks` drops them; true: there
  /// were some.
  void look(std::size_t setting, const StretchMean& mean, int era);
  void believe();
  bool forget_looks();
  /// What came after the latest stretch at the found setting is no longer of its era but of this one.
  void part_from_found(int era);
  /// What came after the latest stretch at the found setting is nobody's.
  void forget_since_found();
  /// All that was seen of a setting.
  void forget(std::size_t setting);
  void forget_before(int era);
  /// By so much the job is believed to drift: standard deviation, relative.
  void drifts(double deviation) { drift_ = deviation; }
  /// What was seen so far is of another program that is like this one: of no setting it tells better than two
  /// such programs are alike.
  void inherit();
  /// With variances from the scatter of all stretches; `when` since the first of them began.
  [[nodiscard]] std::vector<plan::MeasuredStretch> rows() const;
  /// Relative standard error of the time of so many units.
  [[nodiscard]] double time_error(double work) const;
  [[nodiscard]] bool measured(std::size_t setting) const;
  [[nodiscard]] double work_at(std::size_t setting) const;

 private:
  [[nodiscard]] plan::MeasuredStretch stretch_of(std::size_t setting, const StretchMean& mean, int era);
  [[nodiscard]] std::optional<Seconds> latest_at_found() const;
  void thin();
  /// Those alone at their setting in an era that is over: they tell of no difference.
  bool drop_alone();
  /// The oldest at the found setting in an era that is over, or older than `age` (s), and those beside it,
  /// become contrasts. False: there is none.
  bool settle_oldest(double age);
  /// Of one setting and era: those that span least, `longest` seconds at most, and lie so far from any
  /// stretch at the found setting. False where there are none.
  bool merge_closest(double longest, double away);
  /// All that is known of one setting: the one that least is known of.
  void drop_least();
  /// Seconds to the nearest stretch at the found setting of its era.
  [[nodiscard]] double from_other_side(const plan::MeasuredStretch& s) const;

  /// Of single units, relative; the evidence soon outweighs where it starts.
  struct Scatter {
    double sum = 0;
    double weight = 0;
    void add(double variance, double weight_of);
    [[nodiscard]] double mean() const;
  };

  std::size_t found_;
  Contrasts contrasts_;  // of what is old
  double drift_ = 0;
  int era_ = 0;                                   // of the latest
  std::optional<TimePoint> begin_;                // of the first stretch there was
  std::vector<plan::MeasuredStretch> stretches_;  // variances not filled in
  std::vector<plan::MeasuredStretch> looks_;      // likewise
  Scatter time_;
  Scatter power_;
};

}  // namespace rubato::govern
