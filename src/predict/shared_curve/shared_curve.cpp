#include "predict/shared_curve/shared_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "predict/shared_curve/local_regression.h"

namespace rubato::predict {
namespace shared_curve {
namespace {

/// Of the mean of several rows, or as whoever measured it knows; never below a thousandth.
double probe_noise(double variance, unsigned repeats, const std::optional<double>& known) {
  constexpr double kLeast = 1e-6;
  return std::max(kLeast, known ? *known * *known : variance / std::max(1U, repeats));
}

}  // namespace

Result<std::vector<CurveRows>> rows_of(const KnobBasis& basis, std::span<const Curve> curves) {
  std::vector<CurveRows> out;
  std::map<std::string, int> groups;
  for (const Curve& curve : curves) {
    std::vector<KnobPoint> at;
    std::vector<double> time;
    std::vector<double> energy;
    for (const Observed& row : curve.rows) {
      if (row.at == curve.known.at_default.at) continue;
      at.push_back(row.at);
      time.push_back(std::log(row.time / curve.known.at_default.time));
      energy.push_back(std::log(row.energy / curve.known.at_default.energy));
    }
    if (at.empty()) continue;
    const auto hinges = basis.hinges(curve.known, at);
    if (!hinges) return fail(hinges.error());
    const auto covariates = basis.covariates(curve.known);
    if (!covariates) return fail(covariates.error());
    CurveRows rows;
    rows.hinges = *hinges;
    rows.expanded = basis.expand(*hinges, *covariates);
    rows.covariates = *covariates;
    const auto n = static_cast<Eigen::Index>(at.size());
    rows.log_time = Eigen::Map<const Eigen::VectorXd>(time.data(), n);
    rows.log_energy = Eigen::Map<const Eigen::VectorXd>(energy.data(), n);
    rows.group = groups.try_emplace(curve.group, static_cast<int>(groups.size())).first->second;
    out.push_back(std::move(rows));
  }
  set_weights(out);
  return out;
}

Result<Prediction> believed(const KnobBasis& basis, const ResidualSpread& time, const ResidualSpread& energy,
                            const Known& known, std::span<const KnobPoint> at, const Centre& centre,
                            const Centre& at_probes) {
  const auto hinges = basis.hinges(known, at);
  if (!hinges) return fail(hinges.error());
  const auto covariates = basis.covariates(known);
  if (!covariates) return fail(covariates.error());
  std::vector<KnobPoint> probed;
  for (const Observed& probe : known.probes) probed.push_back(probe.at);
  const auto probe_hinges = basis.hinges(known, probed);
  if (!probe_hinges) return fail(probe_hinges.error());

  const double time_noise = time.noise_variance(*covariates);
  const double energy_noise = energy.noise_variance(*covariates);
  const auto k = static_cast<Eigen::Index>(probed.size());
  Measured times{*probe_hinges, at_probes.log_time, Eigen::VectorXd(k), Eigen::VectorXd(k)};
  Measured energies{*probe_hinges, at_probes.log_energy, Eigen::VectorXd(k), Eigen::VectorXd(k)};
  for (Eigen::Index i = 0; i < k; ++i) {
    const Observed& probe = known.probes[static_cast<std::size_t>(i)];
    times.log_ratio[i] = std::log(probe.time / known.at_default.time);
    energies.log_ratio[i] = std::log(probe.energy / known.at_default.energy);
    times.noise[i] = probe_noise(time_noise, probe.repeats, probe.time_error);
    energies.noise[i] = probe_noise(energy_noise, probe.repeats, probe.energy_error);
  }
  const Observed& base = known.at_default;
  Believed t =
      believe(time, probe_noise(time_noise, base.repeats, base.time_error), *hinges, centre.log_time, times);
  Believed e = believe(energy, probe_noise(energy_noise, base.repeats, base.energy_error), *hinges,
                       centre.log_energy, energies);

  // A ratio to the default as measured: there, and where it was probed, nothing is left to guess.
  const auto exact = [&](Eigen::Index i, double log_time, double log_energy) {
    t.mean[i] = log_time;
    e.mean[i] = log_energy;
    t.factor.row(i).setZero();
    e.factor.row(i).setZero();
  };
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    if (at[i] == base.at) exact(row, 0, 0);
    for (std::size_t p = 0; p < probed.size(); ++p) {
      const auto measured = static_cast<Eigen::Index>(p);
      if (at[i] == probed[p]) exact(row, times.log_ratio[measured], energies.log_ratio[measured]);
    }
  }
  const auto n = static_cast<Eigen::Index>(at.size());
  // Time and energy are drawn apart: each has its own directions.
  const Eigen::Index r = t.factor.cols();
  Prediction out{.at = {at.begin(), at.end()},
                 .log_time = t.mean,
                 .log_energy = e.mean,
                 .time_factor = Eigen::MatrixXd::Zero(n, 2 * r),
                 .energy_factor = Eigen::MatrixXd::Zero(n, 2 * r),
                 .time_own = Eigen::VectorXd::Zero(n),
                 .energy_own = Eigen::VectorXd::Zero(n),
                 .measurement_noise = {std::sqrt(time_noise), std::sqrt(energy_noise)}};
  out.time_factor.leftCols(r) = t.factor;
  out.energy_factor.rightCols(r) = e.factor;
  return out;
}

namespace {

using nlohmann::json;

json to_json(const Eigen::VectorXd& v) {
  return std::vector<double>(v.begin(), v.end());
}

/// Of time or of energy: one curve for all, and a share of the neighbours' own.
struct Fitted {
  Eigen::VectorXd coefficients;
  LocalRegression local;
  double local_share = 0;
  ResidualSpread spread;

  /// Log ratios at the settings whose hinges, and hinges with covariates, are given.
  [[nodiscard]] Eigen::VectorXd at(const Eigen::MatrixXd& expanded, const Eigen::MatrixXd& hinges,
                                   const Eigen::VectorXd& covariates) const {
    Eigen::VectorXd out = expanded * coefficients;
    if (local_share > 0)
      out = (1 - local_share) * out + local_share * (hinges * local.coefficients(covariates));
    return out;
  }
  [[nodiscard]] json state() const {
    return {{"coefficients", to_json(coefficients)},
            {"local", local.state()},
            {"local_share", local_share},
            {"spread", spread.state()}};
  }
  [[nodiscard]] static Result<Fitted> read(const json& state, const KnobBasis& basis);
};

tl::unexpected<Error> corrupt(std::string_view why) {
  return fail(ErrorCode::corrupt, cat("the state of a shared-curve model cannot be read: ", why),
              "a model of another version of rubato has to be trained again: rubato model train");
}

Result<Fitted> Fitted::read(const json& state, const KnobBasis& basis) {
  auto spread = ResidualSpread::read(state.at("spread"));
  if (!spread) return fail(spread.error());
  auto local = LocalRegression::read(state.at("local"), basis.width(), basis.scores());
  if (!local) return fail(local.error());
  const auto coefficients = state.at("coefficients").get<std::vector<double>>();
  const auto share = state.at("local_share").get<double>();
  if (std::ssize(coefficients) != basis.columns() || spread->root.rows() != basis.width())
    return corrupt("its parts are of different sizes");
  if (!(share >= 0 && share <= 1)) return corrupt("a share is not between 0 and 1");
  return Fitted{Eigen::Map<const Eigen::VectorXd>(coefficients.data(), basis.columns()), std::move(*local),
                share, std::move(*spread)};
}

Fitted fitted(const std::vector<CurveRows>& rows, Quantity quantity) {
  const PooledFit pooled = fit_pooled(rows, quantity);
  LocalRegression local(rows, quantity);
  constexpr std::array kShares = {0.0, 0.25, 0.5, 0.75, 1.0};
  std::optional<double> least;
  double share = 0;
  std::vector<Eigen::VectorXd> residuals;
  for (const double candidate : kShares) {
    std::vector<Eigen::VectorXd> mixed;
    double error = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      mixed.emplace_back((1 - candidate) * pooled.left_out[i] + candidate * local.left_out()[i]);
      error += rows[i].weight * mixed.back().cwiseAbs().mean();
    }
    if (least && error >= *least) continue;
    least = error;
    share = candidate;
    residuals = std::move(mixed);
  }
  return {pooled.coefficients, std::move(local), share, fit_spread(rows, residuals)};
}

class SharedCurve final : public Model {
 public:
  struct Parts {
    KnobBasis basis;
    Fitted time;
    Fitted energy;
  };
  explicit SharedCurve(Parts parts) : parts_(std::move(parts)) {}

  Result<Prediction> predict(const Known& known, std::span<const KnobPoint> at) const override {
    const auto here = centre(known, at);
    if (!here) return fail(here.error());
    std::vector<KnobPoint> probed;
    for (const Observed& probe : known.probes) probed.push_back(probe.at);
    const auto probes = centre(known, probed);
    if (!probes) return fail(probes.error());
    return believed(parts_.basis, parts_.time.spread, parts_.energy.spread, known, at, *here, *probes);
  }

  json state() const override {
    return {
        {"basis", parts_.basis.state()}, {"time", parts_.time.state()}, {"energy", parts_.energy.state()}};
  }

 private:
  Result<Centre> centre(const Known& known, std::span<const KnobPoint> at) const {
    const auto hinges = parts_.basis.hinges(known, at);
    if (!hinges) return fail(hinges.error());
    const auto covariates = parts_.basis.covariates(known);
    if (!covariates) return fail(covariates.error());
    const Eigen::MatrixXd x = parts_.basis.expand(*hinges, *covariates);
    return Centre{parts_.time.at(x, *hinges, *covariates), parts_.energy.at(x, *hinges, *covariates)};
  }

  Parts parts_;
};

class SharedCurveLearner final : public Learner {
 public:
  std::string_view name() const override { return "shared-curve"; }

  Result<std::unique_ptr<Model>> learn(std::span<const Curve> curves,
                                       std::span<const Knob> knobs) const override {
    constexpr std::size_t kFewest = 2;
    if (curves.size() < kFewest || knobs.empty())
      return fail(ErrorCode::invalid_argument, cat("a shared curve needs at least ", kFewest,
                                                   " workloads to learn from; there is ", curves.size()));
    auto basis = KnobBasis::learn(curves, knobs);
    if (!basis) return fail(basis.error());
    const auto rows = rows_of(*basis, curves);
    if (!rows) return fail(rows.error());
    if (rows->size() < kFewest)
      return fail(ErrorCode::invalid_argument,
                  cat("a shared curve needs at least ", kFewest,
                      " workloads that were measured at more than their default; there is ", rows->size()));
    return std::make_unique<SharedCurve>(SharedCurve::Parts{std::move(*basis), fitted(*rows, Quantity::time),
                                                            fitted(*rows, Quantity::energy)});
  }

  Result<std::unique_ptr<Model>> read(const json& state) const override {
    try {
      auto basis = KnobBasis::read(state.at("basis"));
      if (!basis) return fail(basis.error());
      auto time = Fitted::read(state.at("time"), *basis);
      if (!time) return fail(time.error());
      auto energy = Fitted::read(state.at("energy"), *basis);
      if (!energy) return fail(energy.error());
      return std::make_unique<SharedCurve>(
          SharedCurve::Parts{std::move(*basis), std::move(*time), std::move(*energy)});
    } catch (const json::exception& error) {
      return corrupt(error.what());
    }
  }
};

}  // namespace
}  // namespace shared_curve

const Learner& shared_curve_learner() {
  static const shared_curve::SharedCurveLearner learner;
  return learner;
}

}  // namespace rubato::predict
