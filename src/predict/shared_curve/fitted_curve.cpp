#include "predict/shared_curve/fitted_curve.h"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"

namespace rubato::predict::shared_curve {
namespace {

using nlohmann::json;

constexpr std::array kShares = {0.0, 0.25, 0.5, 0.75, 1.0};

}  // namespace

Mixed best_mixed(const std::vector<CurveRows>& rows, const std::vector<Eigen::VectorXd>& first,
                 const std::vector<Eigen::VectorXd>& second) {
  Mixed out;
  std::optional<double> least;
  for (const double share : kShares) {
    std::vector<Eigen::VectorXd> mixed;
    double error = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      mixed.emplace_back((1 - share) * first[i] + share * second[i]);
      error += rows[i].weight * mixed.back().cwiseAbs().mean();
    }
    if (least && error >= *least) continue;
    least = error;
    out = {share, std::move(mixed)};
  }
  return out;
}

FittedCurve::FittedCurve(const std::vector<CurveRows>& rows, Quantity quantity)
    : FittedCurve(rows, fit_pooled(rows, quantity), LocalRegression(rows, quantity)) {}

FittedCurve::FittedCurve(const std::vector<CurveRows>& rows, const PooledFit& pooled, LocalRegression local)
    : coefficients_(pooled.coefficients), local_(std::move(local)) {
  Mixed mixed = best_mixed(rows, pooled.left_out, local_.left_out());
  local_share_ = mixed.share;
  left_out_ = std::move(mixed.residuals);
}

Eigen::VectorXd FittedCurve::at(const Eigen::MatrixXd& expanded, const Eigen::MatrixXd& hinges,
                                const Eigen::VectorXd& covariates) const {
  Eigen::VectorXd out = expanded * coefficients_;
  if (local_share_ > 0)
    out = (1 - local_share_) * out + local_share_ * (hinges * local_.coefficients(covariates));
  return out;
}

json FittedCurve::state() const {
  return {{"coefficients", std::vector<double>(coefficients_.begin(), coefficients_.end())},
          {"local", local_.state()},
          {"local_share", local_share_}};
}

Result<FittedCurve> FittedCurve::read(const json& state, const KnobBasis& basis) {
  const auto corrupt = [](std::string_view why) {
    return fail(ErrorCode::corrupt, cat("the state of a shared-curve model cannot be read: ", why));
  };
  auto local = LocalRegression::read(state.at("local"), basis.width(), basis.scores());
  if (!local) return fail(local.error());
  const auto coefficients = state.at("coefficients").get<std::vector<double>>();
  const auto share = state.at("local_share").get<double>();
  if (std::ssize(coefficients) != basis.columns()) return corrupt("its parts are of different sizes");
  if (!(share >= 0 && share <= 1)) return corrupt("a share is not between 0 and 1");
  return FittedCurve(Eigen::Map<const Eigen::VectorXd>(coefficients.data(), basis.columns()),
                     std::move(*local), share);
}

}  // namespace rubato::predict::shared_curve
