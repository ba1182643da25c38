#include "predict/physical/learn.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/text.h"
#include "predict/physical/prior.h"
#include "predict/physical/widening.h"

namespace rubato::predict::physical {
namespace {

constexpr int kRounds = 10;
constexpr double kFirstNoise = 0.05;
constexpr double kFirstDeparture = 0.02;
constexpr double kLeastNoise = 2e-7;  // variances
constexpr double kLeastDeparture = 1e-7;
constexpr double kGroupOverlap = 0.3;  // how far a further member of a group repeats the others
constexpr double kPriorWorkloads = 4;  // weight of the prior's spread, in workloads
constexpr double kPriorSpread = 0.4;   // of the prior's deviation: what workloads of one GPU differ by
constexpr double kOwnWitness = 0.5;    // of a parameter's posterior variance: how far it testifies for others
constexpr double kNoisinessRows = 10;  // weight of the table's noise in a workload's own, in rows

struct Student {  // one training workload
  Measured measured;
  Evidence evidence{};
  Posterior posterior{};
  Parameters mean = Parameters::Zero();  // expected of it without its group
  double weight = 1;
  double noisiness = 1;  // of its noise variance over the table's
};

class Course {
 public:
  Course(std::vector<Student> students, Learned start)
      : students_(std::move(students)), out_(std::move(start)) {
    out_.noise.setConstant(kFirstNoise * kFirstNoise);
    out_.departure.setConstant(kFirstDeparture * kFirstDeparture);
    for (Student& s : students_) {
      s.mean = starting_prior().mean;
      s.posterior.belief.mean = s.mean;
    }
  }

  Learned run() {
    for (int round = 0; round < kRounds; ++round) {
      expect(round == 0 ? 6 : 3);
      regress(round);
      respread();
      if (round >= 1) repattern();
      renoise();
      if (round >= 2) reweigh_noise();
      if (round >= 3) redeparture();
    }
    return std::move(out_);
  }

  [[nodiscard]] const std::vector<Student>& students() const { return students_; }

 private:
  void expect(int steps) {
    for (Student& s : students_) {
      const auto n = static_cast<Eigen::Index>(s.measured.places.size());
      s.measured.noise.head(n).setConstant(out_.noise[0] * s.noisiness);
      s.measured.noise.tail(n).setConstant(out_.noise[1] * s.noisiness);
      s.evidence = evidence_of(out_, s.measured);
      s.posterior = posterior({s.mean, out_.spread}, s.evidence, s.posterior.belief.mean, steps);
    }
  }

  void regress(int round) {
    const auto count = static_cast<Eigen::Index>(students_.size());
    const bool choose = round == 1 || round == 4 || round == kRounds - 1;
    std::vector<Regression> next;
    for (Eigen::Index k = 0; k < kParameters; ++k) {
      Eigen::VectorXd value(count);
      Eigen::VectorXd variance(count);
      for (Eigen::Index w = 0; w < count; ++w) {
        const Belief& b = students_[static_cast<std::size_t>(w)].posterior.belief;
        value[w] = b.mean[k];
        variance[w] = kOwnWitness * b.covariance(k, k) + 1e-9;
      }
      const double deviation = starting_prior().deviation[k];
      const Regression::Prior prior{starting_prior().mean[k], deviation, out_.spread(k, k)};
      Eigen::VectorXd means(count);
      if (round == 0) {
        Eigen::VectorXd precision = variance.cwiseInverse();
        for (Eigen::Index w = 0; w < count; ++w)
          precision[w] *= students_[static_cast<std::size_t>(w)].weight;
        means.setConstant(prior.mean + precision.dot((value.array() - prior.mean).matrix()) /
                                           (precision.sum() + 1 / (deviation * deviation)));
      } else {
        next.push_back(choose ? Regression(out_.trained, prior, value, variance)
                              : out_.regressions[static_cast<std::size_t>(k)].refitted(
                                    out_.trained, prior.spread, value, variance));
        means = next.back().without_group();
      }
      for (Eigen::Index w = 0; w < count; ++w) students_[static_cast<std::size_t>(w)].mean[k] = means[w];
    }
    if (round > 0) out_.regressions = std::move(next);
  }

  /// Around means that leave the workload's own group out: the spread holds what groups differ by.
  void respread() {
    const Parameters& deviation = starting_prior().deviation;
    ParameterMatrix sum =
        (kPriorWorkloads * (kPriorSpread * deviation).cwiseAbs2()).asDiagonal().toDenseMatrix();
    for (const Student& s : students_) {
      const Parameters off =
          (s.posterior.belief.mean - s.mean).cwiseMin(4 * deviation).cwiseMax(-4 * deviation);
      sum += s.weight * off * off.transpose() + s.posterior.belief.covariance;
    }
    out_.spread = sum / (static_cast<double>(students_.size()) + kPriorWorkloads);
  }

  void repattern() {
    std::vector<Pattern::Seen> seen;
    for (const Student& s : students_)
      seen.push_back({.places = &s.measured.places,
                      .asked = &s.measured.situations,
                      .evidence = &s.evidence,
                      .posterior = &s.posterior,
                      .departure_time = out_.departure[0],
                      .departure_power = out_.departure[1]});
    out_.pattern = Pattern::improved(out_.pattern, seen);
  }

  [[nodiscard]] static Eigen::VectorXd unexplained(const Student& s) {
    return s.evidence.value - s.posterior.fitted - s.posterior.departure;
  }

  void renoise() {
    for (const Eigen::Index kind : {0, 1}) {
      double square = 0;
      double rows = 0;
      double used = 0;
      for (const Student& s : students_) {
        const auto n = static_cast<Eigen::Index>(s.measured.places.size());
        const Eigen::VectorXd left = unexplained(s).segment(kind * n, n);
        square += left.cwiseAbs2().dot(s.posterior.weight.segment(kind * n, n)) / s.noisiness;
        const Eigen::MatrixXd slope = s.posterior.slope.middleRows(kind * n, n);
        const Eigen::ArrayXd leverage =
            (slope * s.posterior.belief.covariance).cwiseProduct(slope).rowwise().sum() /
            (out_.noise[kind] * s.noisiness);
        used += 0.5 * leverage.min(0.9).sum();
        rows += static_cast<double>(n);
      }
      out_.noise[kind] = std::max(kLeastNoise, square / std::max(0.3 * rows, rows - used));
    }
  }

  /// Workloads differ in noise far more than chance: short kernels, data from disk.
  void reweigh_noise() {
    const auto count = static_cast<Eigen::Index>(students_.size());
    Eigen::VectorXd log_ratio(count);
    double mean = 0;
    double weights = 0;
    for (Eigen::Index w = 0; w < count; ++w) {
      const Student& s = students_[static_cast<std::size_t>(w)];
      const auto n = static_cast<Eigen::Index>(s.measured.places.size());
      const Eigen::VectorXd left = unexplained(s).cwiseAbs2().cwiseProduct(s.posterior.weight);
      const double sum = left.head(n).sum() / out_.noise[0] + left.tail(n).sum() / out_.noise[1];
      log_ratio[w] = std::log((sum + kNoisinessRows) / (0.8 * 2 * static_cast<double>(n) + kNoisinessRows));
      mean += s.weight * log_ratio[w];
      weights += s.weight;
    }
    log_ratio.array() -= mean / weights;
    const double variance = (log_ratio.array() - log_ratio.mean()).square().mean();
    out_.noisiness.emplace(out_.trained, Regression::Prior{0.0, 0.3, variance + 0.05}, log_ratio,
                           Eigen::VectorXd::Constant(count, 0.15));
    for (Eigen::Index w = 0; w < count; ++w)
      students_[static_cast<std::size_t>(w)].noisiness = std::exp(log_ratio[w]);
  }

  void redeparture() {
    for (const Eigen::Index kind : {0, 1}) {
      double sum = 0;
      for (const Student& s : students_) {
        const auto n = static_cast<Eigen::Index>(s.measured.places.size());
        Eigen::MatrixXd kernel(n, n);
        for (Eigen::Index i = 0; i < n; ++i)
          for (Eigen::Index j = 0; j < n; ++j)
            kernel(i, j) = own_kernel(s.measured.places[static_cast<std::size_t>(i)],
                                      s.measured.places[static_cast<std::size_t>(j)]);
        const Eigen::MatrixXd own = out_.departure[kind] * kernel;
        Eigen::MatrixXd total = own;
        total.diagonal() +=
            (out_.noise[kind] * s.noisiness * s.posterior.weight.segment(kind * n, n).cwiseInverse());
        const auto root = total.llt();
        const Eigen::VectorXd misfit = (s.evidence.value - s.posterior.fitted).segment(kind * n, n);
        const Eigen::VectorXd estimate = own * root.solve(misfit);
        const Eigen::MatrixXd doubt = own - own * root.solve(own);
        kernel.diagonal().array() += 1e-4;
        const auto scale = kernel.llt();
        sum += (estimate.dot(scale.solve(estimate)) + scale.solve(doubt).trace()) / static_cast<double>(n);
      }
      out_.departure[kind] = std::max(kLeastDeparture, sum / static_cast<double>(students_.size()));
    }
  }

  std::vector<Student> students_;
  Learned out_;
};

/// Places of all rows once; those that differ by rounding only are one.
std::vector<Place> places_of(const std::vector<Student>& students) {
  std::map<std::array<long, 3>, Place> found;
  for (const Student& s : students)
    for (const Place& p : s.measured.places)
      found.try_emplace({std::lround(p[0] * 1e5), std::lround(p[1] * 1e5), std::lround(p[2] * 1e5)}, p);
  std::vector<Place> out;
  out.reserve(found.size());
  for (const auto& [key, place] : found) out.push_back(place);
  return out;
}

std::size_t default_row(const Curve& curve) {
  const auto found = std::find_if(curve.rows.begin(), curve.rows.end(),
                                  [&](const Observed& row) { return row.at == curve.known.at_default.at; });
  return static_cast<std::size_t>(found - curve.rows.begin());
}

}  // namespace

Result<Measured> measured_of(const Known& known, std::span<const Observed> rows) {
  std::vector<KnobPoint> at;
  for (const Observed& row : rows) at.push_back(row.at);
  auto where = asked(known, at);
  if (!where) return fail(where.error());
  const auto n = static_cast<Eigen::Index>(rows.size());
  Measured out{.places = std::move(where->places),
               .situations = std::move(where->situations),
               .value = Eigen::VectorXd(2 * n),
               .noise = Eigen::VectorXd::Zero(2 * n)};
  for (Eigen::Index i = 0; i < n; ++i) {
    const Observed& row = rows[static_cast<std::size_t>(i)];
    out.value[i] = std::log(row.time / known.at_default.time);
    out.value[n + i] = std::log(row.power() / known.at_default.power());
  }
  return out;
}

Result<Learned> learn_population(std::span<const Curve> curves) {
  Learned start = Learned::nothing();
  if (curves.empty()) return start;
  start.schema = schema_of(curves);
  const auto count = static_cast<Eigen::Index>(curves.size());
  const auto covariates = static_cast<Eigen::Index>(start.schema.features.size()) + 1;
  Eigen::MatrixXd raw(count, covariates);
  std::map<std::string, int> groups;
  std::map<int, double> sizes;
  std::vector<Student> students;
  for (const Curve& curve : curves) {
    if (default_row(curve) == curve.rows.size())
      return fail(ErrorCode::invalid_argument,
                  cat("workload ", curve.workload, " has no row at its default"));
    auto measured = measured_of(curve.known, curve.rows);
    if (!measured) return fail(measured.error());
    const auto row = static_cast<Eigen::Index>(students.size());
    raw.row(row) = covariates_of(curve.known, start.schema, Eigen::VectorXd::Zero(covariates));
    const int group = groups.try_emplace(curve.group, static_cast<int>(groups.size())).first->second;
    start.trained.group.push_back(group);
    sizes[group] += 1;
    students.emplace_back();
    students.back().measured = std::move(*measured);
  }
  start.standardised = Standardised(raw);
  start.trained.covariates.resize(count, covariates);
  double weights = 0;
  for (std::size_t w = 0; w < students.size(); ++w) {
    const auto row = static_cast<Eigen::Index>(w);
    start.trained.covariates.row(row) = start.standardised(raw.row(row));
    students[w].weight = 1 / (1 + kGroupOverlap * (sizes[start.trained.group[w]] - 1));
    weights += students[w].weight;
  }
  for (Student& s : students) s.weight *= static_cast<double>(count) / weights;
  start.pattern = Pattern::flat(places_of(students));
  Course course(std::move(students), std::move(start));
  Learned out = course.run();
  std::vector<LeftOut> held;
  for (std::size_t w = 0; w < curves.size(); ++w) {
    const Student& s = course.students()[w];
    const Eigen::VectorXd z = out.trained.covariates.row(static_cast<Eigen::Index>(w));
    held.push_back({.measured = &s.measured,
                    .expected = s.mean,
                    .noise = out.noisiness ? std::exp(out.noisiness->mean(z)) : 1.0,
                    .weight = 1 / std::sqrt(sizes[out.trained.group[w]]),
                    .at_default = default_row(curves[w])});
  }
  out.widening = widening_of(out, held);
  return out;
}

}  // namespace rubato::predict::physical
