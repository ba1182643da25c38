#include "predict/draws.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/feature_schema.h"
#include "predict/physical/prior.h"
#include "predict/physical/question.h"

namespace rubato::predict {
namespace {

using physical::Parameters;

constexpr double kLeastBusy = 0.02;  // a share of nothing leaves no curve to draw

/// Latin hypercube: each parameter's range is covered evenly whatever the number of curves.
Eigen::MatrixXd normal_hypercube(Eigen::Index dimensions, std::size_t count, Random& random) {
  Eigen::MatrixXd out(dimensions, static_cast<Eigen::Index>(count));
  std::vector<double> normals(count);
  for (Eigen::Index k = 0; k < dimensions; ++k) {
    // Sorted normals are stratified; their order is drawn.
    for (std::size_t i = 0; i < count; ++i) {
      const double share = (static_cast<double>(i) + random.uniform()) / static_cast<double>(count);
      // Winitzki's closed form of the inverse error function (2008): off by less than 0.002.
      const double x = std::clamp(2 * share - 1, -0.999, 0.999);
      const double l = std::log(1 - x * x);
      constexpr double a = 0.147;
      const double b = 2 / (3.14159265358979 * a) + l / 2;
      normals[i] = std::copysign(std::sqrt(2 * (std::sqrt(b * b - l / a) - b)), x);
    }
    for (std::size_t i = count; i > 1; --i) std::swap(normals[i - 1], normals[random.index(i)]);
    for (std::size_t i = 0; i < count; ++i) out(k, static_cast<Eigen::Index>(i)) = normals[i];
  }
  return out;
}

/// Share of the time in which no kernel ran; nothing where nobody looked.
std::optional<double> waiting_share(const Known& known) {
  const auto busy =
      known.features.find(std::string(kFeatureNames[static_cast<std::size_t>(Feature::sm_utilisation)]));
  if (busy == known.features.end() || !(busy->second > 0)) return std::nullopt;
  return 1 - std::clamp(busy->second, kLeastBusy, 1.0);
}

// While no kernel runs no clock matters: what the prior says of the fixed part, it says of the rest.
double with_waiting(double fixed_share, double waiting) {
  const double fixed = waiting + (1 - waiting) / (1 + std::exp(-fixed_share));
  return std::log(fixed / (1 - fixed));
}

}  // namespace

Result<PhysicalDrawing> PhysicalDrawing::begin(const Known& known, std::span<const KnobPoint> at,
                                               std::size_t curves, Random& random) {
  std::vector<KnobPoint> points(at.begin(), at.end());
  points.push_back(known.at_default.at);
  auto asked = physical::asked(known, points);
  if (!asked) return fail(asked.error());
  PhysicalDrawing out;
  out.situations_ = std::move(asked->situations);
  out.normals_ = normal_hypercube(physical::kParameters, curves, random);
  out.waiting_ = waiting_share(known);
  const auto n = static_cast<Eigen::Index>(at.size());
  out.draws_ = {Eigen::MatrixXd(n, out.normals_.cols()), Eigen::MatrixXd(n, out.normals_.cols())};
  return out;
}

void PhysicalDrawing::draw(std::size_t curves) {
  const auto& prior = physical::starting_prior();
  const Eigen::Index n = draws_.log_time.rows();
  const Eigen::Index end = std::min(normals_.cols(), drawn_ + static_cast<Eigen::Index>(curves));
  for (; drawn_ < end; ++drawn_) {
    Parameters workload = prior.mean + prior.deviation.cwiseProduct(normals_.col(drawn_));
    workload[physical::log_time] = 0;
    if (waiting_) workload[physical::fixed_share] = with_waiting(workload[physical::fixed_share], *waiting_);
    const Eigen::VectorXd response = physical::responses_brought(workload, situations_);
    draws_.log_time.col(drawn_) = response.head(n).array() - response[n];
    draws_.log_power.col(drawn_) = response.segment(n + 1, n).array() - response[2 * n + 1];
  }
}

Draws PhysicalDrawing::finish() && {
  draw(static_cast<std::size_t>(normals_.cols()));
  return std::move(draws_);
}

Result<Draws> draw_physical(const Known& known, std::span<const KnobPoint> at, std::size_t curves,
                            Random& random) {
  auto drawing = PhysicalDrawing::begin(known, at, curves, random);
  if (!drawing) return fail(drawing.error());
  return std::move(*drawing).finish();
}

Draws draw_from(const Prediction& believed, std::size_t curves, Random& random) {
  const auto n = static_cast<Eigen::Index>(believed.size());
  const auto m = static_cast<Eigen::Index>(curves);
  Draws out{Eigen::MatrixXd(n, m), Eigen::MatrixXd(n, m)};
  for (Eigen::Index i = 0; i < m; ++i) {
    Eigen::VectorXd z(believed.time_factor.cols());
    for (double& x : z) x = random.normal();
    // Without time_own and energy_own. Models put there what a curve departs from their form by, which in
    // truth neighbours share: drawn setting by setting it would give curves teeth, of which a search takes
    // the lowest. And plan::CurveBelief lets each curve be wrong smoothly already: they would count twice.
    const Eigen::VectorXd time = believed.log_time + believed.time_factor * z;
    out.log_time.col(i) = time;
    out.log_power.col(i) = believed.log_energy + believed.energy_factor * z - time;
  }
  return out;
}

}  // namespace rubato::predict
