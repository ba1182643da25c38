#include "predict/draws.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "predict/physical/prior.h"
#include "predict/physical/question.h"

namespace rubato::predict {
namespace {

using physical::Parameters;

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

}  // namespace

Result<Draws> draw_physical(const Known& known, std::span<const KnobPoint> at, std::size_t curves,
                            Random& random) {
  std::vector<KnobPoint> points(at.begin(), at.end());
  points.push_back(known.at_default.at);
  const auto asked = physical::asked(known, points);
  if (!asked) return fail(asked.error());
  const auto n = static_cast<Eigen::Index>(at.size());
  const std::span<const physical::Situation> everywhere(asked->situations);
  const auto& prior = physical::starting_prior();
  const Eigen::MatrixXd normals = normal_hypercube(physical::kParameters, curves, random);
  Draws out{Eigen::MatrixXd(n, normals.cols()), Eigen::MatrixXd(n, normals.cols())};
  for (Eigen::Index i = 0; i < normals.cols(); ++i) {
    Parameters workload = prior.mean + prior.deviation.cwiseProduct(normals.col(i));
    workload[physical::log_time] = 0;
    const Eigen::VectorXd response = physical::responses_brought(workload, everywhere);
    out.log_time.col(i) = response.head(n).array() - response[n];
    out.log_power.col(i) = response.segment(n + 1, n).array() - response[2 * n + 1];
  }
  return out;
}

Draws draw_from(const Prediction& believed, std::size_t curves, Random& random) {
  const auto n = static_cast<Eigen::Index>(believed.size());
  const auto m = static_cast<Eigen::Index>(curves);
  Draws out{Eigen::MatrixXd(n, m), Eigen::MatrixXd(n, m)};
  for (Eigen::Index i = 0; i < m; ++i) {
    Eigen::VectorXd z(believed.time_factor.cols());
    for (double& x : z) x = random.normal();
    const Eigen::VectorXd time = believed.log_time + believed.time_factor * z;
    out.log_time.col(i) = time;
    out.log_power.col(i) = believed.log_energy + believed.energy_factor * z - time;
  }
  return out;
}

}  // namespace rubato::predict
