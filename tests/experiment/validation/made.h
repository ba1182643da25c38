// Workloads small enough to reckon in the head, and models that say what a test wants them to say.
#pragma once

#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "predict/model.h"

namespace rubato::experiment {

/// Over the default's, which is 10 s at 200 W under a limit of 200 W.
struct Ratio {
  double limit = 200;
  double time = 1;
  double energy = 1;
};

inline predict::Curve made_curve(std::string name, std::string group, const std::vector<Ratio>& rows) {
  predict::Curve curve{.workload = std::move(name), .group = std::move(group)};
  const auto point = [](double watts) { return predict::KnobPoint{.power_limit = Watts(watts)}; };
  curve.known.gpu = "V";
  curve.known.highest = point(200);
  curve.known.at_default = {.at = point(200), .time = Seconds(10), .energy = Joules(2000)};
  curve.rows = {curve.known.at_default};
  for (const Ratio& r : rows)
    curve.rows.push_back(
        {.at = point(r.limit), .time = Seconds(10 * r.time), .energy = Joules(2000 * r.energy)});
  return curve;
}

/// Says `says(known, at)` with a standard deviation of its own at each setting but the default, and that one
/// row is as noisy as told.
template <class Says>
class SayingModel : public predict::Model {
 public:
  SayingModel(Says says, double deviation, double noise = 0)
      : says_(std::move(says)), deviation_(deviation), noise_(noise) {}
  Result<predict::Prediction> predict(const predict::Known& known,
                                      std::span<const predict::KnobPoint> at) const override {
    const auto n = static_cast<Eigen::Index>(at.size());
    predict::Prediction out{.at = {at.begin(), at.end()},
                            .log_time = Eigen::VectorXd::Zero(n),
                            .log_energy = Eigen::VectorXd::Zero(n),
                            .time_factor = Eigen::MatrixXd::Zero(n, 0),
                            .energy_factor = Eigen::MatrixXd::Zero(n, 0),
                            .time_own = Eigen::VectorXd::Zero(n),
                            .energy_own = Eigen::VectorXd::Zero(n),
                            .measurement_noise = {noise_, noise_}};
    for (Eigen::Index i = 0; i < n; ++i) {
      const predict::KnobPoint& point = at[static_cast<std::size_t>(i)];
      if (point == known.at_default.at) continue;
      const Ratio said = says_(known, point);
      out.log_time[i] = std::log(said.time);
      out.log_energy[i] = std::log(said.energy);
      out.time_own[i] = out.energy_own[i] = deviation_;
    }
    return out;
  }
  nlohmann::json state() const override { return {}; }

 private:
  Says says_;
  double deviation_;
  double noise_;
};

/// A learner that notes which groups it saw, and learns nothing from them.
template <class Says>
class SayingLearner : public predict::Learner {
 public:
  explicit SayingLearner(Says says, double deviation = 1e-6)
      : says_(std::move(says)), deviation_(deviation) {}
  std::string_view name() const override { return "saying"; }
  Result<std::unique_ptr<predict::Model>> learn(std::span<const predict::Curve> curves,
                                                std::span<const Knob>) const override {
    std::set<std::string> groups;
    for (const predict::Curve& curve : curves) groups.insert(curve.group);
    const std::lock_guard lock(mutex_);
    seen_.insert(std::move(groups));
    return std::make_unique<SayingModel<Says>>(says_, deviation_);
  }
  Result<std::unique_ptr<predict::Model>> read(const nlohmann::json&) const override {
    return fail(ErrorCode::not_supported, "a saying model is never read");
  }
  std::multiset<std::set<std::string>> seen() const { return seen_; }

 private:
  Says says_;
  double deviation_;
  mutable std::mutex mutex_;
  mutable std::multiset<std::set<std::string>> seen_;
};

inline const auto kNothingChanges = [](const predict::Known&, const predict::KnobPoint&) { return Ratio{}; };

}  // namespace rubato::experiment
