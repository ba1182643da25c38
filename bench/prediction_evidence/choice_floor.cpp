#include "prediction_evidence/choice_floor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "experiment/held_out.h"
#include "experiment/noise_floor.h"

namespace rubato::prediction_evidence {
namespace {

using predict::Curve;
using predict::Prediction;
using Guesses = std::vector<std::optional<experiment::FloorGuess>>;

constexpr double kNever = 2.0;  // log ratio of a row that no other row tells anything of

/// Of one workload: what its other rows say of each.
class OtherRows final : public predict::Model {
 public:
  explicit OtherRows(Prediction said) : said_(std::move(said)) {}
  Result<Prediction> predict(const predict::Known&, std::span<const predict::KnobPoint>) const override {
    return said_;
  }
  nlohmann::json state() const override { return nullptr; }

 private:
  Prediction said_;
};

struct Off {
  double time = 0;
  double energy = 0;
};

double log_time(const Curve& curve, std::size_t i) {
  return std::log(curve.rows[i].time / curve.known.at_default.time);
}

double log_energy(const Curve& curve, std::size_t i) {
  return std::log(curve.rows[i].energy / curve.known.at_default.energy);
}

/// Deviations of what is said from what was measured, by the median: few rows are far off.
Off usually_off(std::span<const Curve> curves, const std::vector<Guesses>& guesses) {
  std::vector<double> time;
  std::vector<double> energy;
  for (std::size_t w = 0; w < curves.size(); ++w)
    for (std::size_t i = 0; i < guesses[w].size(); ++i) {
      if (!guesses[w][i]) continue;
      time.push_back(std::abs(guesses[w][i]->log_time - log_time(curves[w], i)));
      energy.push_back(std::abs(guesses[w][i]->log_energy - log_energy(curves[w], i)));
    }
  const auto deviation = [](std::vector<double>& values) {
    if (values.empty()) return 0.0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    constexpr double kOverMedian = 1.4826;  // of a normal distribution
    return kOverMedian * *middle;
  };
  return {deviation(time), deviation(energy)};
}

Prediction said_of(const Curve& curve, const Guesses& guesses, const Off& off) {
  const std::ptrdiff_t n = std::ssize(curve.rows);
  Prediction out{.at = {},
                 .log_time = Eigen::VectorXd::Zero(n),
                 .log_energy = Eigen::VectorXd::Zero(n),
                 .time_factor = Eigen::MatrixXd::Zero(n, 0),
                 .energy_factor = Eigen::MatrixXd::Zero(n, 0),
                 .time_own = Eigen::VectorXd::Zero(n),
                 .energy_own = Eigen::VectorXd::Zero(n),
                 .measurement_noise = {}};
  for (std::size_t i = 0; i < curve.rows.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    out.at.push_back(curve.rows[i].at);
    if (curve.rows[i].at == curve.known.at_default.at) continue;
    out.log_time[row] = guesses[i] ? guesses[i]->log_time : kNever;
    out.log_energy[row] = guesses[i] ? guesses[i]->log_energy : kNever;
    if (!guesses[i]) continue;
    out.time_own[row] = off.time;
    out.energy_own[row] = off.energy;
  }
  return out;
}

}  // namespace

Result<ChoiceFloor> floor_of_choices(std::span<const Curve> curves,
                                     const experiment::ValidationOptions& options) {
  std::vector<Guesses> guesses;
  guesses.reserve(curves.size());
  for (const Curve& curve : curves) guesses.push_back(experiment::floor_guesses(curve));
  const Off off = usually_off(curves, guesses);
  std::optional<ChoiceFloor> best;
  for (const double times : {0.25, 0.5, 1.0, 1.5}) {
    experiment::Validation validation;
    for (std::size_t w = 0; w < curves.size(); ++w) {
      const OtherRows model(said_of(curves[w], guesses[w], {times * off.time, times * off.energy}));
      auto judged = experiment::judge(model, curves[w], options);
      if (!judged) return fail(judged.error());
      validation.judged.push_back(std::move(*judged));
    }
    experiment::summarise(validation);
    const ChoiceFloor here{.regret = validation.energy_regret, .captured = validation.at_bound.captured};
    if (!best) best = here;
    best->regret = std::min(best->regret, here.regret);
    best->captured = std::max(best->captured, here.captured);
  }
  return *best;
}

}  // namespace rubato::prediction_evidence
