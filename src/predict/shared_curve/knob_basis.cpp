#include "predict/shared_curve/knob_basis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"

namespace rubato::predict::shared_curve {
namespace {

using nlohmann::json;

constexpr std::size_t kMostClockKnots = 12;
// Log of limit over default power. The first are where a cap already trims the peaks of a varying load.
constexpr std::array kCapKnots = {0.3, 0.1, -0.1, -0.3, -0.5, -0.7, -0.9};
constexpr double kCapSoftness = 0.1;
constexpr double kClockSoftness = 0.02;  // of the range seen
constexpr double kFarthestScore = 2.0;   // no workload is taken to be farther out than this

/// Zero above the knot, the distance below it.
double hinge(double z, double knot, double softness) {
  const double x = (knot - z) / softness;
  return softness * (x > 30 ? x : std::log1p(std::exp(x)));
}

/// Knots at the values seen below the highest, thinned evenly where they are many.
std::vector<double> clock_knots(std::vector<double> seen) {
  constexpr double kSame = 1e-3;
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end(), [](double a, double b) { return b - a < kSame; }),
             seen.end());
  if (!seen.empty()) seen.erase(seen.begin());  // nothing lies below the lowest
  if (seen.size() <= kMostClockKnots) return seen;
  std::vector<double> out;
  for (std::size_t i = 1; i <= kMostClockKnots; ++i)
    out.push_back(seen[i * (seen.size() - 1) / kMostClockKnots]);
  return out;
}

}  // namespace

bool KnobBasis::caps() const {
  return std::find(knobs_.begin(), knobs_.end(), Knob::power_limit) != knobs_.end();
}

Result<Eigen::MatrixXd> KnobBasis::positions(const Known& known, std::span<const KnobPoint> at) const {
  Eigen::MatrixXd z(static_cast<Eigen::Index>(at.size()), static_cast<Eigen::Index>(knobs_.size()));
  for (std::size_t j = 0; j < knobs_.size(); ++j) {
    const auto highest = value_of(known.highest, knobs_[j]);
    const bool cap = knobs_[j] == Knob::power_limit;
    if (!highest || *highest <= 0)
      return fail(ErrorCode::invalid_argument,
                  cat("nothing says how high the ", name_of(knobs_[j]), " of ", known.gpu, " goes"));
    const double reference = cap ? known.at_default.power().value() : *highest;
    for (std::size_t i = 0; i < at.size(); ++i)
      z(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          std::log(value_of(at[i], knobs_[j]).value_or(*highest) / reference);
  }
  return z;
}

Result<double> KnobBasis::raw(const Covariate& covariate, const Known& known) const {
  if (!covariate.feature.empty()) {
    const auto found = known.features.find(covariate.feature);
    if (found == known.features.end())
      return fail(ErrorCode::invalid_argument,
                  cat("the model needs the feature '", covariate.feature, "', which was not measured"),
                  "measure it at the default setting, or train a model without features");
    return found->second;
  }
  const double scale = caps() && known.highest.power_limit ? known.highest.power_limit->value() : 1.0;
  return std::log(known.at_default.power().value() / scale);
}

Result<KnobBasis> KnobBasis::learn(std::span<const Curve> curves, std::span<const Knob> knobs) {
  KnobBasis out;
  out.knobs_.assign(knobs.begin(), knobs.end());
  std::vector<std::vector<double>> seen(knobs.size());
  for (const Curve& curve : curves) {
    std::vector<KnobPoint> at;
    for (const Observed& row : curve.rows) at.push_back(row.at);
    const auto z = out.positions(curve.known, at);
    if (!z) return fail(z.error());
    for (std::size_t j = 0; j < knobs.size(); ++j)
      for (const double x : z->col(static_cast<Eigen::Index>(j))) seen[j].push_back(x);
  }
  for (std::size_t j = 0; j < knobs.size(); ++j) {
    Axis axis;
    const double lowest = *std::min_element(seen[j].begin(), seen[j].end());
    if (knobs[j] == Knob::power_limit) {
      for (const double knot : kCapKnots)
        if (knot > lowest + kCapSoftness / 2) axis.knots.push_back(knot);
      if (axis.knots.empty()) axis.knots.push_back(lowest + kCapSoftness);
      axis.softness = kCapSoftness;
    } else {
      axis.knots = clock_knots(seen[j]);
      if (axis.knots.empty()) axis.knots.push_back(0.0);
      axis.softness = std::max(1e-3, kClockSoftness * std::abs(lowest));
    }
    out.axes_.push_back(std::move(axis));
  }
  std::vector<Covariate> candidates(1);
  for (const auto& [name, value] : curves.front().known.features) candidates.push_back({name});
  for (Covariate& covariate : candidates) {
    double sum = 0;
    double squares = 0;
    for (const Curve& curve : curves) {
      const auto value = out.raw(covariate, curve.known);
      if (!value) return fail(value.error());
      sum += *value;
      squares += *value * *value;
    }
    const auto n = static_cast<double>(curves.size());
    covariate.mean = sum / n;
    covariate.deviation = std::sqrt(std::max(0.0, squares / n - covariate.mean * covariate.mean));
    if (covariate.deviation > 1e-6 * std::max(1.0, std::abs(covariate.mean)))
      out.covariates_.push_back(covariate);
  }
  return out;
}

Eigen::Index KnobBasis::width() const {
  std::size_t n = axes_.size() * (axes_.size() - 1) / 2;
  for (const Axis& axis : axes_) n += axis.knots.size();
  return static_cast<Eigen::Index>(n);
}

Eigen::Index KnobBasis::columns() const {
  const bool bent = caps() && !covariates_.empty() && covariates_.front().feature.empty();
  return width() * (1 + static_cast<Eigen::Index>(covariates_.size()) + (bent ? 1 : 0));
}

Result<Eigen::MatrixXd> KnobBasis::hinges(const Known& known, std::span<const KnobPoint> at) const {
  const auto z = positions(known, at);
  if (!z) return fail(z.error());
  const std::vector<KnobPoint> standing = {known.at_default.at};
  const auto zero = positions(known, standing);
  if (!zero) return fail(zero.error());
  Eigen::MatrixXd out(z->rows(), width());
  for (Eigen::Index i = 0; i < z->rows(); ++i) {
    Eigen::Index column = 0;
    for (std::size_t j = 0; j < axes_.size(); ++j) {
      const auto axis = static_cast<Eigen::Index>(j);
      for (const double knot : axes_[j].knots)
        out(i, column++) =
            hinge((*z)(i, axis), knot, axes_[j].softness) - hinge((*zero)(0, axis), knot, axes_[j].softness);
    }
    for (Eigen::Index a = 0; a < z->cols(); ++a)
      for (Eigen::Index b = a + 1; b < z->cols(); ++b)
        out(i, column++) = ((*z)(i, a) - (*zero)(0, a)) * ((*z)(i, b) - (*zero)(0, b));
  }
  return out;
}

Result<Eigen::VectorXd> KnobBasis::covariates(const Known& known) const {
  Eigen::VectorXd out(static_cast<Eigen::Index>(covariates_.size()));
  for (std::size_t i = 0; i < covariates_.size(); ++i) {
    const auto value = raw(covariates_[i], known);
    if (!value) return fail(value.error());
    const double score = (*value - covariates_[i].mean) / covariates_[i].deviation;
    out[static_cast<Eigen::Index>(i)] = std::clamp(score, -kFarthestScore, kFarthestScore);
  }
  return out;
}

Eigen::MatrixXd KnobBasis::expand(const Eigen::MatrixXd& hinges, const Eigen::VectorXd& covariates) const {
  Eigen::MatrixXd out(hinges.rows(), columns());
  const Eigen::Index w = width();
  out.leftCols(w) = hinges;
  for (Eigen::Index i = 0; i < covariates.size(); ++i)
    out.middleCols((i + 1) * w, w) = hinges * covariates[i];
  // How far a cap pushes the clock is not linear in the power it has to take away.
  if (out.cols() > (covariates.size() + 1) * w) out.rightCols(w) = hinges * covariates[0] * covariates[0];
  return out;
}

json KnobBasis::state() const {
  json axes = json::array();
  for (std::size_t j = 0; j < axes_.size(); ++j)
    axes.push_back(
        {{"knob", name_of(knobs_[j])}, {"knots", axes_[j].knots}, {"softness", axes_[j].softness}});
  json covariates = json::array();
  for (const Covariate& c : covariates_)
    covariates.push_back({{"feature", c.feature}, {"mean", c.mean}, {"deviation", c.deviation}});
  return {{"axes", std::move(axes)}, {"covariates", std::move(covariates)}};
}

Result<KnobBasis> KnobBasis::read(const json& state) {
  const auto corrupt = [](std::string_view why) {
    return fail(ErrorCode::corrupt, cat("the state of a shared-curve model cannot be read: ", why));
  };
  try {
    KnobBasis out;
    for (const json& axis : state.at("axes")) {
      const auto knob = parse_knob(axis.at("knob").get<std::string>());
      if (!knob) return corrupt(knob.error().what);
      out.knobs_.push_back(*knob);
      out.axes_.push_back({axis.at("knots").get<std::vector<double>>(), axis.at("softness").get<double>()});
      if (out.axes_.back().knots.empty() || !(out.axes_.back().softness > 0))
        return corrupt("a knob has no knots, or they have no width");
    }
    for (const json& c : state.at("covariates")) {
      out.covariates_.push_back(
          {c.at("feature").get<std::string>(), c.at("mean").get<double>(), c.at("deviation").get<double>()});
      if (!(out.covariates_.back().deviation > 0)) return corrupt("a covariate has no spread");
    }
    if (out.knobs_.empty()) return corrupt("it has no knob");
    return out;
  } catch (const json::exception& error) {
    return corrupt(error.what());
  }
}

}  // namespace rubato::predict::shared_curve
