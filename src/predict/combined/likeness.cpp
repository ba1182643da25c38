#include "predict/combined/likeness.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"

namespace rubato::predict::combined {
namespace {

using nlohmann::json;

constexpr double kLeastDeviation = 1e-9;
constexpr double kUsual = 0.75;  // the share of workloads that are no farther from the other groups

std::vector<double> list(const Eigen::RowVectorXd& v) {
  return {v.begin(), v.end()};
}

Eigen::RowVectorXd row_of(const json& state) {
  const auto values = state.get<std::vector<double>>();
  return Eigen::Map<const Eigen::RowVectorXd>(values.data(), std::ssize(values));
}

}  // namespace

Defaults::Defaults(std::span<const Curve> curves) {
  if (curves.empty()) return;
  for (const auto& [name, value] : curves.front().known.features)
    if (std::all_of(curves.begin(), curves.end(),
                    [&name = name](const Curve& c) { return c.known.features.contains(name); }))
      features.push_back(name);
  scores.resize(std::ssize(curves), std::ssize(features) + 1);
  for (Eigen::Index i = 0; i < scores.rows(); ++i) {
    const Known& known = curves[static_cast<std::size_t>(i)].known;
    scores(i, 0) = std::log(known.at_default.power().value());
    for (Eigen::Index k = 1; k < scores.cols(); ++k)
      scores(i, k) = known.features.at(features[static_cast<std::size_t>(k) - 1]);
  }
  mean = scores.colwise().mean();
  scores.rowwise() -= mean;
  deviation = (scores.colwise().squaredNorm() / static_cast<double>(scores.rows())).cwiseSqrt().array() +
              kLeastDeviation;
  scores = scores * deviation.cwiseInverse().asDiagonal();
}

Likeness::Likeness(std::span<const Curve> curves) {
  Defaults defaults(curves);
  std::vector<double> nearest;  // of each workload to those of other groups
  for (std::size_t a = 0; a < curves.size(); ++a) {
    std::optional<double> least;
    for (std::size_t b = 0; b < curves.size(); ++b) {
      if (curves[a].group == curves[b].group) continue;
      const double square = (defaults.scores.row(static_cast<Eigen::Index>(a)) -
                             defaults.scores.row(static_cast<Eigen::Index>(b)))
                                .squaredNorm() /
                            static_cast<double>(defaults.scores.cols());
      least = std::min(least.value_or(square), square);
    }
    if (least) nearest.push_back(std::sqrt(*least));
  }
  if (nearest.empty()) return;
  std::sort(nearest.begin(), nearest.end());
  usual_ = nearest[static_cast<std::size_t>(kUsual * static_cast<double>(nearest.size() - 1))];
  features_ = std::move(defaults.features);
  mean_ = std::move(defaults.mean);
  deviation_ = std::move(defaults.deviation);
  seen_ = std::move(defaults.scores);
}

double Likeness::unlike(const Known& known) const {
  if (usual_ <= 0) return 0;
  Eigen::RowVectorXd here(seen_.cols());
  here[0] = std::log(known.at_default.power().value());
  for (std::size_t k = 0; k < features_.size(); ++k) {
    const auto found = known.features.find(features_[k]);
    if (found == known.features.end()) return 1;
    here[static_cast<Eigen::Index>(k) + 1] = found->second;
  }
  here = (here - mean_).cwiseQuotient(deviation_);
  const double square =
      (seen_.rowwise() - here).rowwise().squaredNorm().minCoeff() / static_cast<double>(seen_.cols());
  return std::clamp(std::sqrt(square) / usual_ - 1, 0.0, 1.0);
}

json Likeness::state() const {
  json seen = json::array();
  for (Eigen::Index i = 0; i < seen_.rows(); ++i) seen.push_back(list(seen_.row(i)));
  return {{"features", features_},
          {"mean", list(mean_)},
          {"deviation", list(deviation_)},
          {"seen", std::move(seen)},
          {"usual", usual_}};
}

Result<Likeness> Likeness::read(const json& state) {
  const auto corrupt = [](std::string_view why) {
    return fail(ErrorCode::corrupt, cat("the state of a combined model cannot be read: ", why));
  };
  try {
    Likeness out;
    out.usual_ = state.at("usual").get<double>();
    out.features_ = state.at("features").get<std::vector<std::string>>();
    out.mean_ = row_of(state.at("mean"));
    out.deviation_ = row_of(state.at("deviation"));
    const json& seen = state.at("seen");
    if (out.usual_ <= 0) return Likeness();
    const Eigen::Index columns = std::ssize(out.features_) + 1;
    if (seen.empty() || out.mean_.size() != columns || out.deviation_.size() != columns)
      return corrupt("what is known of the workloads learnt from is of different sizes");
    if (!(out.deviation_.minCoeff() > 0)) return corrupt("a deviation is not positive");
    out.seen_.resize(std::ssize(seen), columns);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const Eigen::RowVectorXd one = row_of(seen[i]);
      if (one.size() != columns) return corrupt("a workload learnt from lacks a feature");
      out.seen_.row(static_cast<Eigen::Index>(i)) = one;
    }
    return out;
  } catch (const json::exception& error) {
    return corrupt(error.what());
  }
}

}  // namespace rubato::predict::combined
