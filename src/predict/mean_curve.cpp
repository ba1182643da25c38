#include "predict/mean_curve.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "predict/ratio_grid.h"

namespace rubato::predict {
namespace {

using nlohmann::json;
using Points = RatioGrid::Points;  // of one workload

/// nothing: a knob whose value at the default nobody knows.
Result<KnobRatios> knob_ratios(const Known& known, const KnobPoint& at, std::span<const Knob> knobs) {
  KnobRatios out;
  for (const Knob knob : knobs) {
    const auto highest = value_of(known.highest, knob);
    auto base = value_of(known.at_default.at, knob);
    auto here = value_of(at, knob);
    if (!base) base = highest;
    if (!here) here = highest;
    if (!base || !here || *base <= 0)
      return fail(ErrorCode::invalid_argument,
                  cat("nothing says where the ", name_of(knob), " of ", known.gpu, " stands by default"));
    out.push_back(*here / *base);
  }
  return out;
}

/// Of each setting, over the workloads that were measured there.
Points mean_of(const std::vector<RatioGrid>& curves) {
  Points mean;
  std::map<KnobThousandths, double> seen;
  for (const RatioGrid& curve : curves)
    for (const auto& [key, ratios] : curve.points()) {
      Ratios& sum = mean.try_emplace(key, Ratios{0, 0}).first->second;
      sum.time += ratios.time;
      sum.energy += ratios.energy;
      ++seen[key];
    }
  for (auto& [key, sum] : mean) {
    sum.time /= seen[key];
    sum.energy /= seen[key];
  }
  return mean;
}

class MeanCurve final : public Model {
 public:
  MeanCurve(std::vector<Knob> knobs, std::vector<RatioGrid> curves)
      : knobs_(std::move(knobs)), curves_(std::move(curves)), mean_(mean_of(curves_)) {}

  Result<Prediction> predict(const Known& known, std::span<const KnobPoint> at) const override {
    const auto n = static_cast<Eigen::Index>(at.size());
    const auto r = static_cast<Eigen::Index>(curves_.size());
    Prediction out{.at = {at.begin(), at.end()},
                   .log_time = Eigen::VectorXd::Zero(n),
                   .log_energy = Eigen::VectorXd::Zero(n),
                   .time_factor = Eigen::MatrixXd::Zero(n, r),
                   .energy_factor = Eigen::MatrixXd::Zero(n, r),
                   .time_own = Eigen::VectorXd::Zero(n),
                   .energy_own = Eigen::VectorXd::Zero(n)};
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto where = knob_ratios(known, at[static_cast<std::size_t>(i)], knobs_);
      if (!where) return fail(where.error());
      one(out, i, *where);
    }
    return out;
  }

  json state() const override {
    json knobs = json::array();
    for (const Knob knob : knobs_) knobs.push_back(name_of(knob));
    json curves = json::array();
    for (const RatioGrid& workload : curves_) {
      json curve = json::array();
      for (const auto& [key, ratios] : workload.points())
        curve.push_back({{"at_thousandths", key}, {"time", ratios.time}, {"energy", ratios.energy}});
      curves.push_back(std::move(curve));
    }
    return {{"knobs", std::move(knobs)}, {"curves", std::move(curves)}};
  }

 private:
  void one(Prediction& out, Eigen::Index i, const KnobRatios& where) const {
    const Ratios mean = mean_.at(where);
    out.log_time[i] = std::log(mean.time);
    out.log_energy[i] = std::log(mean.energy);
    if (curves_.size() < 2) {
      // One workload says nothing of a spread: what it says may as well be nothing, or twice as much.
      out.time_factor(i, 0) = out.log_time[i];
      out.energy_factor(i, 0) = out.log_energy[i];
      return;
    }
    const auto count = static_cast<double>(curves_.size());
    // A new workload deviates from a mean that is itself known from `count` workloads only.
    const double scale = std::sqrt((1.0 + 1.0 / count) / (count - 1.0));
    // Each workload's own deviation from the mean is one direction a new workload may lie in.
    for (std::size_t c = 0; c < curves_.size(); ++c) {
      const Ratios own = curves_[c].at(where);
      out.time_factor(i, static_cast<Eigen::Index>(c)) = scale * std::log(own.time / mean.time);
      out.energy_factor(i, static_cast<Eigen::Index>(c)) = scale * std::log(own.energy / mean.energy);
    }
  }

  std::vector<Knob> knobs_;
  std::vector<RatioGrid> curves_;
  RatioGrid mean_;
};

class MeanCurveLearner final : public Learner {
 public:
  std::string_view name() const override { return "mean-curve"; }

  Result<std::unique_ptr<Model>> learn(std::span<const Curve> curves,
                                       std::span<const Knob> knobs) const override {
    if (curves.empty())
      return fail(ErrorCode::invalid_argument,
                  "the mean curve needs a workload to learn from; there is none");
    std::vector<RatioGrid> all;
    for (const Curve& curve : curves) {
      Points points;
      for (const Observed& row : curve.rows) {
        const auto where = knob_ratios(curve.known, row.at, knobs);
        if (!where) return fail(where.error());
        points[thousandths_of(*where)] = {row.time / curve.known.at_default.time,
                                          row.energy / curve.known.at_default.energy};
      }
      all.emplace_back(std::move(points));
    }
    return std::make_unique<MeanCurve>(std::vector<Knob>(knobs.begin(), knobs.end()), std::move(all));
  }

  Result<std::unique_ptr<Model>> read(const json& state) const override {
    const auto corrupt = [](std::string_view why) {
      return fail(ErrorCode::corrupt, cat("the state of a mean-curve model cannot be read: ", why));
    };
    try {
      std::vector<Knob> knobs;
      for (const json& name : state.at("knobs")) {
        const auto knob = parse_knob(name.get<std::string>());
        if (!knob) return corrupt(knob.error().what);
        if (std::find(knobs.begin(), knobs.end(), *knob) != knobs.end())
          return corrupt("a knob is named twice");
        knobs.push_back(*knob);
      }
      std::vector<RatioGrid> curves;
      for (const json& curve : state.at("curves")) {
        Points points;
        for (const json& point : curve) {
          const auto key = point.at("at_thousandths").get<KnobThousandths>();
          const Ratios ratios{point.at("time").get<double>(), point.at("energy").get<double>()};
          if (key.size() != knobs.size()) return corrupt("a point has another number of knobs");
          if (!(ratios.time > 0) || !(ratios.energy > 0)) return corrupt("a ratio is not positive");
          points[key] = ratios;
        }
        if (points.empty()) return corrupt("a curve is empty");
        curves.emplace_back(std::move(points));
      }
      if (knobs.empty() || curves.empty()) return corrupt("it has no knob, or no curve");
      return std::make_unique<MeanCurve>(std::move(knobs), std::move(curves));
    } catch (const json::exception& error) {
      return corrupt(error.what());
    }
  }
};

}  // namespace

const Learner& mean_curve_learner() {
  static const MeanCurveLearner learner;
  return learner;
}

}  // namespace rubato::predict
