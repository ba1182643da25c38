#include "predict/physical/pattern.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

namespace rubato::predict::physical {
namespace {

constexpr double kLength = 0.25;       // log units: a fifth of the range of most knobs
constexpr double kSameSetting = 0.01;  // requests this close are the same step of the hardware
constexpr double kStep = 0.02;
// Prior deviations of the four shifts: the remainder is small, what is reached can be far from what was
// asked.
const Shift kDeviation(0.03, 0.03, 0.3, 0.4);

double bell(const Place& a, const Place& b, double length) {
  return std::exp(-(a - b).squaredNorm() / (2 * length * length));
}

Eigen::Index nearest(const std::vector<Place>& places, const Place& to) {
  Eigen::Index best = 0;
  double distance = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double here = (places[i] - to).squaredNorm();
    if (here >= distance) continue;
    distance = here;
    best = static_cast<Eigen::Index>(i);
  }
  return best;
}

Eigen::MatrixXd shared_covariance(const std::vector<Place>& places) {
  const auto n = static_cast<Eigen::Index>(places.size());
  Eigen::MatrixXd k(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      k(i, j) = shared_kernel(places[static_cast<std::size_t>(i)], places[static_cast<std::size_t>(j)]);
  k.diagonal().array() += 1e-9;
  return k;
}

/// 2n x 2: by the shifts of the SM clock (or cap) and of the memory throughput.
Eigen::MatrixXd slopes_by_shift(const Parameters& w, const std::vector<Situation>& at) {
  Eigen::MatrixXd out(2 * static_cast<Eigen::Index>(at.size()), 2);
  const Eigen::VectorXd base = responses(w, at);
  for (Eigen::Index k = 0; k < 2; ++k) {
    Shift by = Shift::Zero();
    by[2 + k] = -kStep;
    std::vector<Situation> moved;
    moved.reserve(at.size());
    for (const Situation& s : at) moved.push_back(shifted(s, by));
    out.col(k) = (base - responses(w, moved)) / kStep;
  }
  return out;
}

}  // namespace

double shared_kernel(const Place& a, const Place& b) {
  return 0.5 * bell(a, b, kLength) + 0.5 * bell(a, b, kSameSetting);
}

double own_kernel(const Place& a, const Place& b) {
  return bell(a, b, kLength);
}

Situation shifted(const Situation& asked, const Shift& by) {
  Situation out = asked;
  if (out.cap) {
    *out.cap *= std::exp(by[2]);
  } else {
    out.sm *= std::exp(std::clamp(by[2], -1.2, 0.5));
    out.bandwidth *= std::exp(std::clamp(by[3], -2.0, 0.5));
  }
  return out;
}

Pattern::Pattern(std::vector<Place> places, Eigen::MatrixXd shifts)
    : places_(std::move(places)), shifts_(std::move(shifts)) {
  if (!places_.empty()) pull_ = shared_covariance(places_).llt().solve(shifts_);
}

Pattern Pattern::flat(std::vector<Place> places) {
  const auto n = static_cast<Eigen::Index>(places.size());
  return {std::move(places), Eigen::MatrixXd::Zero(n, 4)};
}

Shift Pattern::at(const Place& place) const {
  Shift out = Shift::Zero();
  for (std::size_t i = 0; i < places_.size(); ++i)
    out += shared_kernel(place, places_[i]) * pull_.row(static_cast<Eigen::Index>(i)).transpose();
  return out;
}

Pattern Pattern::improved(const Pattern& from, const std::vector<Seen>& seen) {
  const auto count = static_cast<Eigen::Index>(from.places_.size());
  Eigen::MatrixXd curvature = Eigen::MatrixXd::Zero(4 * count, 4 * count);
  Eigen::VectorXd drive = Eigen::VectorXd::Zero(4 * count);
  for (const Seen& w : seen) {
    const auto n = static_cast<Eigen::Index>(w.places->size());
    std::vector<Situation> at;
    std::vector<Eigen::Index> place;
    for (const Place& p : *w.places) {
      place.push_back(nearest(from.places_, p));
      at.push_back(shifted((*w.asked)[at.size()], from.shifts_.row(place.back())));
    }
    const Eigen::MatrixXd by_shift = slopes_by_shift(w.posterior->belief.mean, at);
    for (Eigen::Index row = 0; row < 2 * n; ++row) {
      const Eigen::Index p = place[static_cast<std::size_t>(row < n ? row : row - n)];
      const Shift direction(row < n ? 1 : 0, row < n ? 0 : 1, by_shift(row, 0), by_shift(row, 1));
      const Shift now = from.shifts_.row(p);
      const double curve = w.posterior->fitted[row] - w.evidence->offset[row];
      const double left = w.evidence->value[row] - curve + direction.tail<2>().dot(now.tail<2>());
      const double weight = w.posterior->weight[row] /
                            (w.evidence->noise[row] + (row < n ? w.departure_time : w.departure_power));
      curvature.block<4, 4>(4 * p, 4 * p) += weight * direction * direction.transpose();
      drive.segment<4>(4 * p) += weight * left * direction;
    }
  }
  const Eigen::MatrixXd shared = shared_covariance(from.places_);
  const Eigen::MatrixXd shared_precision = shared.llt().solve(Eigen::MatrixXd::Identity(count, count));
  for (Eigen::Index i = 0; i < count; ++i)
    for (Eigen::Index j = 0; j < count; ++j)
      for (Eigen::Index k = 0; k < 4; ++k)
        curvature(4 * i + k, 4 * j + k) += shared_precision(i, j) / (kDeviation[k] * kDeviation[k]);
  const Eigen::VectorXd solved = curvature.llt().solve(drive);
  Eigen::MatrixXd shifts(count, 4);
  for (Eigen::Index i = 0; i < count; ++i) shifts.row(i) = solved.segment<4>(4 * i);
  return {from.places_, std::move(shifts)};
}

}  // namespace rubato::predict::physical
