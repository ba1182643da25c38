#include "predict/mean_curve.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"

namespace rubato::predict {
namespace {

using nlohmann::json;
using Position = std::vector<double>;      // each knob over the default's value
using Key = std::vector<long>;             // the same in thousandths
using Ratios = std::pair<double, double>;  // time and energy over the default's
using Points = std::map<Key, Ratios>;      // of one workload
constexpr double kThousandths = 1000.0;

std::optional<double> value_of(const KnobPoint& at, Knob knob) {
  if (knob == Knob::power_limit && at.power_limit) return at.power_limit->value();
  if (knob == Knob::sm_clock && at.sm_clock) return at.sm_clock->value();
  if (knob == Knob::memory_clock && at.memory_clock) return at.memory_clock->value();
  return std::nullopt;
}

/// nothing: a knob whose value at the default nobody knows.
Result<Position> position(const Known& known, const KnobPoint& at, std::span<const Knob> knobs) {
  Position out;
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

Key key_of(const Position& at) {
  Key key;
  for (const double x : at) key.push_back(std::lround(x * kThousandths));
  return key;
}

/// Linear between the points of one knob, flat beyond them.
Ratios along(const Points& points, double x) {
  const auto above = std::find_if(points.begin(), points.end(), [&](const auto& point) {
    return static_cast<double>(point.first.front()) >= x * kThousandths;
  });
  if (above == points.end()) return points.rbegin()->second;
  if (above == points.begin()) return above->second;
  const auto& [key_low, low] = *std::prev(above);
  const auto& [key_high, high] = *above;
  const auto a = static_cast<double>(key_low.front());
  const double share = (x * kThousandths - a) / (static_cast<double>(key_high.front()) - a);
  return {low.first + share * (high.first - low.first), low.second + share * (high.second - low.second)};
}

double distance(const Key& a, const Key& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i] - b[i]), 2);
  return sum;
}

class MeanCurve final : public Model {
 public:
  MeanCurve(std::vector<Knob> knobs, std::vector<Points> curves)
      : knobs_(std::move(knobs)), curves_(std::move(curves)) {
    std::map<Key, std::size_t> seen;
    for (const Points& points : curves_)
      for (const auto& [key, ratios] : points) {
        Ratios& sum = mean_[key];
        sum.first += ratios.first;
        sum.second += ratios.second;
        ++seen[key];
      }
    for (auto& [key, sum] : mean_) {
      sum.first /= static_cast<double>(seen[key]);
      sum.second /= static_cast<double>(seen[key]);
    }
  }

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
      const auto where = position(known, at[static_cast<std::size_t>(i)], knobs_);
      if (!where) return fail(where.error());
      one(out, i, *where);
    }
    return out;
  }

  json state() const override {
    json knobs = json::array();
    for (const Knob knob : knobs_) knobs.push_back(name_of(knob));
    json curves = json::array();
    for (const Points& points : curves_) {
      json curve = json::array();
      for (const auto& [key, ratios] : points)
        curve.push_back({{"at_thousandths", key}, {"time", ratios.first}, {"energy", ratios.second}});
      curves.push_back(std::move(curve));
    }
    return {{"knobs", std::move(knobs)}, {"curves", std::move(curves)}};
  }

 private:
  void one(Prediction& out, Eigen::Index i, const Position& where) const {
    const Key key = key_of(where);
    const bool line = knobs_.size() == 1;
    Ratios mean{1.0, 1.0};
    Key spread_at = key;
    if (line) {
      mean = along(mean_, where.front());
    } else if (const auto found = mean_.find(key); found != mean_.end()) {
      mean = found->second;
    } else {
      spread_at = std::min_element(mean_.begin(), mean_.end(), [&](const auto& a, const auto& b) {
                    return distance(a.first, key) < distance(b.first, key);
                  })->first;
    }
    out.log_time[i] = std::log(mean.first);
    out.log_energy[i] = std::log(mean.second);
    // Each workload's own deviation from the mean is one direction a new workload may lie in.
    Ratios middle = mean;
    if (!line) middle = mean_.at(spread_at);
    Eigen::Index n = 0;
    for (std::size_t c = 0; c < curves_.size(); ++c) {
      const auto found = curves_[c].find(spread_at);
      if (!line && found == curves_[c].end()) continue;
      const Ratios own = line ? along(curves_[c], where.front()) : found->second;
      out.time_factor(i, static_cast<Eigen::Index>(c)) = std::log(own.first / middle.first);
      out.energy_factor(i, static_cast<Eigen::Index>(c)) = std::log(own.second / middle.second);
      ++n;
    }
    if (n <
        2) {  // one workload says nothing of a spread: what it says may as well be nothing, or twice as much
      out.time_factor(i, 0) = out.log_time[i];
      out.energy_factor(i, 0) = out.log_energy[i];
      return;
    }
    const auto count = static_cast<double>(n);
    // A new workload deviates from a mean that is itself known from `count` workloads only.
    const double scale = std::sqrt((1.0 + 1.0 / count) / (count - 1.0));
    out.time_factor.row(i) *= scale;
    out.energy_factor.row(i) *= scale;
  }

  std::vector<Knob> knobs_;
  std::vector<Points> curves_;
  Points mean_;
};

class MeanCurveLearner final : public Learner {
 public:
  std::string_view name() const override { return "mean-curve"; }

  Result<std::unique_ptr<Model>> learn(std::span<const Curve> curves,
                                       std::span<const Knob> knobs) const override {
    if (curves.empty())
      return fail(ErrorCode::invalid_argument,
                  "the mean curve needs a workload to learn from; there is none");
    std::vector<Points> all;
    for (const Curve& curve : curves) {
      Points points;
      for (const Observed& row : curve.rows) {
        const auto where = position(curve.known, row.at, knobs);
        if (!where) return fail(where.error());
        points[key_of(*where)] = {row.time / curve.known.at_default.time,
                                  row.energy / curve.known.at_default.energy};
      }
      all.push_back(std::move(points));
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
        knobs.push_back(*knob);
      }
      std::vector<Points> curves;
      for (const json& curve : state.at("curves")) {
        Points points;
        for (const json& point : curve) {
          const auto key = point.at("at_thousandths").get<Key>();
          const Ratios ratios{point.at("time").get<double>(), point.at("energy").get<double>()};
          if (key.size() != knobs.size()) return corrupt("a point has another number of knobs");
          if (!(ratios.first > 0) || !(ratios.second > 0)) return corrupt("a ratio is not positive");
          points[key] = ratios;
        }
        if (points.empty()) return corrupt("a curve is empty");
        curves.push_back(std::move(points));
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
