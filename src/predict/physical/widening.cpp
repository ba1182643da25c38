#include "predict/physical/widening.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "predict/prediction.h"

namespace rubato::predict::physical {
namespace {

constexpr std::size_t kMostProbes = 2;
constexpr double kInterval = 0.9;
constexpr double kHeavyTails = 1.1;  // Student's deviation over its scale, tails cut
constexpr double kLeast = 0.7;
constexpr double kMost = 3.0;

using Weighted = std::vector<std::pair<double, double>>;  // distance in deviations, weight

double quantile(Weighted values) {
  std::sort(values.begin(), values.end());
  double all = 0;
  for (const auto& [value, weight] : values) all += weight;
  double sum = 0;
  for (const auto& [value, weight] : values)
    if ((sum += weight) >= kInterval * all) return value;
  return kHalfWidth90;
}

/// A spread seen in few groups is itself unsure: Student's 95 % quantile over the normal one, for as many
/// degrees of freedom as there are groups (Cornish and Fisher's expansion).
double few_groups(int groups) {
  const double n = groups;
  return 1 + 0.927 / n + 0.863 / (n * n);
}

Measured only(const Measured& all, const std::vector<std::size_t>& rows) {
  const auto n = static_cast<Eigen::Index>(all.places.size());
  const auto m = static_cast<Eigen::Index>(rows.size());
  Measured out{
      .places = {}, .situations = {}, .value = Eigen::VectorXd(2 * m), .noise = Eigen::VectorXd(2 * m)};
  for (Eigen::Index i = 0; i < m; ++i) {
    const std::size_t row = rows[static_cast<std::size_t>(i)];
    out.places.push_back(all.places[row]);
    out.situations.push_back(all.situations[row]);
    out.value[i] = all.value[static_cast<Eigen::Index>(row)];
    out.value[m + i] = all.value[n + static_cast<Eigen::Index>(row)];
  }
  return out;
}

/// The row whose measurement explains most of the variance of all.
std::optional<std::size_t> most_telling(const Answer& a, const std::vector<std::size_t>& known,
                                        const std::array<double, 2>& noise) {
  std::optional<std::size_t> best;
  double most = -1;
  for (Eigen::Index j = 0; j < a.log_time.size(); ++j) {
    const auto row = static_cast<std::size_t>(j);
    if (std::find(known.begin(), known.end(), row) != known.end()) continue;
    const auto gain = [&](const Eigen::MatrixXd& factor, const Eigen::VectorXd& own, double error) {
      const Eigen::VectorXd shared = factor * factor.row(j).transpose();
      return shared.squaredNorm() / (shared[j] + own[j] * own[j] + error * error);
    };
    const double here =
        gain(a.time_factor, a.time_own, noise[0]) + gain(a.energy_factor, a.energy_own, noise[1]);
    if (here <= most) continue;
    most = here;
    best = row;
  }
  return best;
}

}  // namespace

std::array<double, 2> row_noise(const Learned& learned, double noise) {
  return {kHeavyTails * std::sqrt(noise * learned.noise[0]),
          kHeavyTails * std::sqrt(noise * learned.noise.sum())};
}

std::vector<std::array<double, 2>> widening_of(const Learned& learned,
                                               const std::vector<LeftOut>& workloads) {
  std::array<Weighted, kMostProbes + 1> time;
  std::array<Weighted, kMostProbes + 1> energy;
  for (const LeftOut& w : workloads) {
    std::vector<std::size_t> known = {w.at_default};
    const auto n = static_cast<Eigen::Index>(w.measured->places.size());
    const auto noise = row_noise(learned, w.noise);
    const Asked wanted{.places = w.measured->places, .situations = w.measured->situations};
    for (std::size_t probes = 0; probes <= kMostProbes && known.size() < static_cast<std::size_t>(n);
         ++probes) {
      Measured seen = only(*w.measured, known);
      const auto m = static_cast<Eigen::Index>(known.size());
      seen.noise.head(m).setConstant(learned.noise[0] * w.noise);
      seen.noise.tail(m).setConstant(learned.noise[1] * w.noise);
      const Answer a = answer(learned, {w.expected, learned.spread}, seen, wanted);
      const double weight = w.weight / static_cast<double>(n - m);
      for (Eigen::Index i = 0; i < n; ++i) {
        if (std::find(known.begin(), known.end(), static_cast<std::size_t>(i)) != known.end()) continue;
        const double log_energy = w.measured->value[i] + w.measured->value[n + i];
        const auto distance = [&](double off, const Eigen::MatrixXd& factor, double own, double error) {
          return std::abs(off) / std::sqrt(factor.row(i).squaredNorm() + own * own + error * error);
        };
        time[probes].emplace_back(
            distance(w.measured->value[i] - a.log_time[i], a.time_factor, a.time_own[i], noise[0]), weight);
        energy[probes].emplace_back(
            distance(log_energy - a.log_energy[i], a.energy_factor, a.energy_own[i], noise[1]), weight);
      }
      if (const auto next = most_telling(a, known, noise)) known.push_back(*next);
    }
  }
  const auto& groups = learned.trained.group;
  const double unsure =
      groups.empty() ? 1.0 : few_groups(1 + *std::max_element(groups.begin(), groups.end()));
  std::vector<std::array<double, 2>> out;
  for (std::size_t p = 0; p <= kMostProbes; ++p)
    out.push_back({unsure * std::clamp(quantile(time[p]) / kHalfWidth90, kLeast, kMost),
                   unsure * std::clamp(quantile(energy[p]) / kHalfWidth90, kLeast, kMost)});
  return out;
}

}  // namespace rubato::predict::physical
