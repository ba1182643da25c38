#include "predict/shared_curve/shared_curve.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "predict/shared_curve/fitted_curve.h"

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

tl::unexpected<Error> corrupt(std::string_view why) {
  return fail(ErrorCode::corrupt, cat("the state of a shared-curve model cannot be read: ", why),
              "a model of another version of rubato has to be trained again: rubato model train");
}

Result<ResidualSpread> read_spread(const json& state, const KnobBasis& basis) {
  auto spread = ResidualSpread::read(state);
  if (spread && spread->root.rows() != basis.width()) return corrupt("its parts are of different sizes");
  return spread;
}

/// Energy is drawn twice, by itself and as time times power, each of which is smoother over some knobs: the
/// share of the second is chosen as the neighbours' is.
struct Parts {
  KnobBasis basis;
  FittedCurve time;
  FittedCurve energy;
  std::optional<FittedCurve> power;  // where it has a share
  double power_share = 0;
  ResidualSpread time_spread;
  ResidualSpread energy_spread;

  [[nodiscard]] Centre centre(const Eigen::MatrixXd& hinges, const Eigen::VectorXd& covariates) const {
    const Eigen::MatrixXd x = basis.expand(hinges, covariates);
    Centre out{time.at(x, hinges, covariates), energy.at(x, hinges, covariates)};
    if (power)
      out.log_energy = (1 - power_share) * out.log_energy +
                       power_share * (out.log_time + power->at(x, hinges, covariates));
    return out;
  }
};

Parts learnt(KnobBasis basis, const std::vector<CurveRows>& rows) {
  FittedCurve time(rows, Quantity::time);
  FittedCurve energy(rows, Quantity::energy);
  FittedCurve power(rows, Quantity::power);
  std::vector<Eigen::VectorXd> product;
  for (std::size_t i = 0; i < rows.size(); ++i)
    product.emplace_back(time.left_out()[i] + power.left_out()[i]);
  const Mixed mixed = best_mixed(rows, energy.left_out(), product);
  ResidualSpread time_spread = fit_spread(rows, time.left_out());
  Parts out{std::move(basis),
            std::move(time),
            std::move(energy),
            std::nullopt,
            mixed.share,
            std::move(time_spread),
            fit_spread(rows, mixed.residuals)};
  if (mixed.share > 0) out.power = std::move(power);
  return out;
}

class SharedCurve final : public Model {
 public:
  explicit SharedCurve(Parts parts) : parts_(std::move(parts)) {}

  Result<Prediction> predict(const Known& known, std::span<const KnobPoint> at) const override {
    const auto here = centre(known, at);
    if (!here) return fail(here.error());
    std::vector<KnobPoint> probed;
    for (const Observed& probe : known.probes) probed.push_back(probe.at);
    const auto probes = centre(known, probed);
    if (!probes) return fail(probes.error());
    return believed(parts_.basis, parts_.time_spread, parts_.energy_spread, known, at, *here, *probes);
  }

  json state() const override {
    json out{{"basis", parts_.basis.state()},
             {"time", parts_.time.state()},
             {"energy", parts_.energy.state()},
             {"power_share", parts_.power_share},
             {"time_spread", parts_.time_spread.state()},
             {"energy_spread", parts_.energy_spread.state()}};
    if (parts_.power) out["power"] = parts_.power->state();
    return out;
  }

 private:
  Result<Centre> centre(const Known& known, std::span<const KnobPoint> at) const {
    const auto hinges = parts_.basis.hinges(known, at);
    if (!hinges) return fail(hinges.error());
    const auto covariates = parts_.basis.covariates(known);
    if (!covariates) return fail(covariates.error());
    return parts_.centre(*hinges, *covariates);
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
    return std::make_unique<SharedCurve>(learnt(std::move(*basis), *rows));
  }

  Result<std::unique_ptr<Model>> read(const json& state) const override {
    try {
      auto basis = KnobBasis::read(state.at("basis"));
      if (!basis) return fail(basis.error());
      auto time = FittedCurve::read(state.at("time"), *basis);
      if (!time) return fail(time.error());
      auto energy = FittedCurve::read(state.at("energy"), *basis);
      if (!energy) return fail(energy.error());
      const auto share = state.at("power_share").get<double>();
      if (!(share >= 0 && share <= 1)) return corrupt("a share is not between 0 and 1");
      std::optional<FittedCurve> power;
      if (share > 0) {
        auto read = FittedCurve::read(state.at("power"), *basis);
        if (!read) return fail(read.error());
        power = std::move(*read);
      }
      auto time_spread = read_spread(state.at("time_spread"), *basis);
      if (!time_spread) return fail(time_spread.error());
      auto energy_spread = read_spread(state.at("energy_spread"), *basis);
      if (!energy_spread) return fail(energy_spread.error());
      return std::make_unique<SharedCurve>(Parts{std::move(*basis), std::move(*time), std::move(*energy),
                                                 std::move(power), share, std::move(*time_spread),
                                                 std::move(*energy_spread)});
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
