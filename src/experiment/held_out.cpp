#include "experiment/held_out.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "plan/choice.h"

namespace rubato::experiment {
namespace {

class HeldOut {
 public:
  HeldOut(const predict::Model& model, const predict::Curve& curve, const ValidationOptions& options)
      : model_(model), curve_(curve), options_(options), known_(curve.known), measured_(curve.rows.size()) {
    for (std::size_t i = 0; i < curve.rows.size(); ++i) {
      at_.push_back(curve.rows[i].at);
      measured_[i] = curve.rows[i].at == known_.at_default.at;
    }
  }

  Result<JudgedWorkload> judge() {
    auto believed = predict();
    for (std::size_t i = 0; believed && i < options_.probes; ++i) {
      const auto next = plan::next_probe(as_rows(*believed), goal(Objective::energy), board(), measured_);
      if (!next) break;
      measured_[*next] = true;
      known_.probes.push_back(curve_.rows[*next]);
      believed = predict();
    }
    if (!believed) return fail(believed.error());
    JudgedWorkload out{.gpu = known_.gpu,
                       .workload = curve_.workload,
                       .group = curve_.group,
                       .default_assumed = curve_.default_assumed};
    judge_rows(out, *believed);
    if (!options_.row_noise) believed->measurement_noise = {};
    judge_choices(out, as_rows(*believed));
    return out;
  }

 private:
  Result<predict::Prediction> predict() const {
    auto believed = model_.predict(known_, at_);
    if (!believed) return fail(believed.error());
    if (believed->size() != at_.size())
      return fail(ErrorCode::internal,
                  cat("the model answered for ", believed->size(), " settings of ", at_.size()));
    return believed;
  }
  Goal goal(Objective objective) const { return {objective, options_.max_slowdown, options_.host_watts}; }
  Watts board() const { return known_.at_default.power(); }
  bool is_default(std::size_t i) const { return at_[i] == known_.at_default.at; }

  double time(std::size_t i) const { return curve_.rows[i].time / known_.at_default.time; }
  double energy(std::size_t i) const { return curve_.rows[i].energy / known_.at_default.energy; }
  /// The board's and the host's, over the default's.
  double joules(std::size_t i) const {
    const auto all = [&](const predict::Observed& o) { return o.energy + options_.host_watts * o.time; };
    return all(curve_.rows[i]) / all(known_.at_default);
  }

  void judge_rows(JudgedWorkload& out, const predict::Prediction& believed) const {
    for (std::size_t i = 0; i < at_.size(); ++i) {
      if (is_default(i)) continue;
      const auto row = static_cast<Eigen::Index>(i);
      JudgedRow judged{.at = at_[i], .probed = measured_[i], .time = time(i), .energy = energy(i)};
      judged.predicted_time = std::exp(believed.log_time[row]);
      judged.predicted_energy = std::exp(believed.log_energy[row]);
      // A measured row is the truth and the noise of one measurement.
      const auto inside = [](double measured, double centre, double deviation, double noise) {
        return std::abs(std::log(measured) - centre) <= predict::kHalfWidth90 * std::hypot(deviation, noise);
      };
      judged.time_inside = inside(judged.time, believed.log_time[row], believed.time_deviation(i),
                                  believed.measurement_noise.time);
      judged.energy_inside = inside(judged.energy, believed.log_energy[row], believed.energy_deviation(i),
                                    believed.measurement_noise.energy);
      out.rows.push_back(judged);
    }
  }

  /// A choice is judged by the very rows that were measured: what was probed is no longer uncertain, and what
  /// was not is as uncertain as the curve and one row's noise together.
  predict::Prediction as_rows(predict::Prediction believed) const {
    for (std::size_t i = 0; i < at_.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      if (!measured_[i]) {
        believed.time_own[row] = std::hypot(believed.time_own[row], believed.measurement_noise.time);
        believed.energy_own[row] = std::hypot(believed.energy_own[row], believed.measurement_noise.energy);
        continue;
      }
      believed.log_time[row] = std::log(time(i));
      believed.log_energy[row] = std::log(energy(i));
      believed.time_factor.row(row).setZero();
      believed.energy_factor.row(row).setZero();
      believed.time_own[row] = 0;
      believed.energy_own[row] = 0;
    }
    believed.measurement_noise = {};
    return believed;
  }

  /// What the setting costs more than the best one, by `cost` of a row over the default's.
  template <class Cost>
  double regret(const predict::Prediction& believed, Objective objective, Cost cost) const {
    const plan::Choice choice = plan::choose(believed, goal(objective), board(), false);
    double best = 1;  // staying
    for (std::size_t i = 0; i < at_.size(); ++i) best = std::min(best, cost(i));
    return (choice.setting ? cost(*choice.setting) : 1.0) / best - 1;
  }

  void judge_choices(JudgedWorkload& out, const predict::Prediction& believed) const {
    out.energy_regret = regret(believed, Objective::energy, [&](std::size_t i) { return joules(i); });
    out.edp_regret = regret(believed, Objective::edp, [&](std::size_t i) { return joules(i) * time(i); });
    const auto holds = [&](std::size_t i) { return time(i) <= 1 + options_.max_slowdown; };
    for (std::size_t i = 0; i < at_.size(); ++i)
      if (holds(i)) out.oracle_saving = std::max(out.oracle_saving, 1 - joules(i));
    const plan::Choice choice =
        plan::choose(believed, goal(Objective::energy), board(), true, options_.caution);
    if (!choice.setting || is_default(*choice.setting)) return;
    out.chosen = at_[*choice.setting];
    out.holds = choice.holds;
    out.slowdown = time(*choice.setting) - 1;
    if (holds(*choice.setting)) out.saving = 1 - joules(*choice.setting);
  }

  const predict::Model& model_;
  const predict::Curve& curve_;
  const ValidationOptions& options_;
  predict::Known known_;
  std::vector<predict::KnobPoint> at_;
  std::vector<bool> measured_;
};

}  // namespace

Result<JudgedWorkload> judge(const predict::Model& model, const predict::Curve& held_out,
                             const ValidationOptions& options) {
  return HeldOut(model, held_out, options).judge();
}

}  // namespace rubato::experiment
