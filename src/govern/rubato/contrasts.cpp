#include "govern/rubato/contrasts.h"

#include <Eigen/Cholesky>
#include <algorithm>

namespace rubato::govern {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A mean of both, by their work.
void merge(plan::MeasuredStretch& into, const plan::MeasuredStretch& other) {
  const double part = other.work / (into.work + other.work);
  into.when = into.when + (other.when - into.when) * part;
  into.log_time += part * (other.log_time - into.log_time);
  into.log_power += part * (other.log_power - into.log_power);
  into.work += other.work;
}

/// What drift makes the stretch at the found setting and the mean of those beside it at `setting` differ by,
/// as a variance over the drift's own.
double drifted(const plan::MeasuredStretch& at_found, std::span<const plan::MeasuredStretch> beside,
               std::size_t setting) {
  double work = 0;
  double across = 0;
  double within = 0;
  for (const auto& a : beside) {
    if (a.at != setting) continue;
    work += a.work;
    across += a.work * plan::drift_together(at_found, a);
    for (const auto& b : beside)
      if (b.at == setting) within += a.work * b.work * plan::drift_together(a, b);
  }
  return std::max(0.0, plan::drift_together(at_found, at_found) + within / (work * work) - 2 * across / work);
}

void grow(MatrixXd& square) {
  const Index n = square.rows() + 1;
  square.conservativeResize(n, n);
  square.row(n - 1).setZero();
  square.col(n - 1).setZero();
}

}  // namespace

Index Contrasts::place_of(const plan::MeasuredStretch& mean) {
  const auto known = std::find_if(rows_.begin(), rows_.end(), [&](const auto& r) { return r.at == mean.at; });
  const Index place = known - rows_.begin();
  if (known != rows_.end()) return place;
  rows_.push_back(mean);
  for (MatrixXd* square : {&told_, &noise_, &drift_}) grow(*square);
  sums_.conservativeResize(place + 1, 2);
  sums_.row(place).setZero();
  return place;
}

void Contrasts::add(const plan::MeasuredStretch& at_found, std::span<const plan::MeasuredStretch> beside,
                    double drift_per_unit) {
  drift_per_unit_ = drift_per_unit;
  std::vector<plan::MeasuredStretch> group{at_found};
  for (const plan::MeasuredStretch& s : beside) {
    const auto same = std::find_if(group.begin(), group.end(), [&](const auto& g) { return g.at == s.at; });
    if (same == group.end()) {
      group.push_back(s);
    } else {
      merge(*same, s);
    }
  }
  for (auto& mean : group) {
    mean.era = kEra;
    mean.span = Seconds(0);
    mean.drifted = mean.at == found_ ? 0 : drifted(at_found, beside, mean.at);
  }
  add_group(group);
}

void Contrasts::add_group(std::span<const plan::MeasuredStretch> group) {
  const auto n = static_cast<Index>(group.size());
  if (!rows_.empty()) rows_.front().work += group.front().work;
  std::vector<Index> places;
  MatrixXd values(n, 2);
  VectorXd noise(n);
  VectorXd drift(n);
  for (Index i = 0; i < n; ++i) {
    const auto& mean = group[static_cast<std::size_t>(i)];
    places.push_back(place_of(mean));
    values.row(i) << mean.log_time, mean.log_power;
    noise[i] = 1 / mean.work;
    drift[i] = mean.drifted.value_or(0);
  }
  // However long a stretch is, what drifted between it and the found setting remains.
  VectorXd apart = drift;
  apart[0] = drift.maxCoeff();
  const VectorXd weight = (noise + apart * drift_per_unit_).cwiseInverse();
  MatrixXd told = weight.asDiagonal();
  told -= weight * weight.transpose() / weight.sum();
  told_(places, places) += told;
  sums_(places, Eigen::all) += told * values;
  noise_(places, places) += told * noise.asDiagonal() * told;
  drift_(places, places) += told * drift.asDiagonal() * told;
  for (Index i = 0; i < n; ++i) {
    const Index place = places[static_cast<std::size_t>(i)];
    auto& row = rows_[static_cast<std::size_t>(place)];
    const Seconds when = group[static_cast<std::size_t>(i)].when;
    row.when = row.when + (when - row.when) * (told(i, i) / told_(place, place));
  }
  solve();
}

void Contrasts::solve() {
  const Index n = told_.rows() - 1;
  if (n == 0) return;
  const Eigen::LDLT<MatrixXd> factor = told_.bottomRightCorner(n, n).ldlt();
  const MatrixXd over_found = factor.solve(sums_.bottomRows(n));
  const MatrixXd inverse = factor.solve(MatrixXd::Identity(n, n));
  const VectorXd noise = (inverse * noise_.bottomRightCorner(n, n) * inverse).diagonal();
  const VectorXd drift = (inverse * drift_.bottomRightCorner(n, n) * inverse).diagonal();
  for (Index i = 0; i < n; ++i) {
    auto& row = rows_[static_cast<std::size_t>(i + 1)];
    row.log_time = rows_.front().log_time + over_found(i, 0);
    row.log_power = rows_.front().log_power + over_found(i, 1);
    // No estimate of the difference is better than all that was done at the two settings.
    row.work = 1 / (noise[i] - 1 / rows_.front().work);
    row.drifted = std::max(0.0, drift[i]);
  }
}

void Contrasts::start(const std::vector<plan::MeasuredStretch>& rows) {
  rows_.clear();
  for (MatrixXd* m : {&told_, &sums_, &noise_, &drift_}) m->resize(0, 0);
  if (rows.size() > 1) add_group(rows);
}

void Contrasts::forget(std::size_t setting) {
  auto rows = rows_;
  if (setting == found_) rows.clear();
  if (std::erase_if(rows, [&](const auto& r) { return r.at == setting; }) > 0 || rows.empty()) start(rows);
}

bool Contrasts::drop_below(double work) {
  if (rows_.size() < 2) return false;
  const auto least = std::min_element(rows_.begin() + 1, rows_.end(),
                                      [](const auto& a, const auto& b) { return a.work < b.work; });
  if (least->work >= work) return false;
  forget(least->at);
  return true;
}

void Contrasts::weaken(const std::map<std::size_t, double>& part_of) {
  auto rows = rows_;
  for (auto& row : rows) row.work *= part_of.at(row.at);
  start(rows);
}

}  // namespace rubato::govern
