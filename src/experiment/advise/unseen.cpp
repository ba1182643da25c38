#include "experiment/advise/unseen.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rubato::experiment {
namespace {

// 95 % points of Student's t by degrees of freedom from 2; beyond the last the normal's is near enough.
constexpr std::array kStudent = {2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796,
                                 1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725, 1.721,
                                 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697};
constexpr double kNormal = 1.697;

double student(std::size_t degrees) {
  return degrees - 2 < kStudent.size() ? kStudent[degrees - 2] : kNormal;
}

}  // namespace

double signed_saving(const JudgedWorkload& judged) {
  if (!judged.chosen || judged.saving != 0) return judged.saving;
  const auto row = std::find_if(judged.rows.begin(), judged.rows.end(),
                                [&](const JudgedRow& r) { return r.at == *judged.chosen; });
  return row == judged.rows.end() ? 0 : std::min(0.0, 1 - row->energy);
}

std::optional<SavingInterval> interval_over_gpus(const std::map<std::string, std::vector<double>>& savings) {
  std::vector<double> means;
  for (const auto& [gpu, of_gpu] : savings) {
    if (of_gpu.empty()) continue;
    double sum = 0;
    for (const double s : of_gpu) sum += s;
    means.push_back(sum / static_cast<double>(of_gpu.size()));
  }
  if (means.size() < 3) return std::nullopt;
  const auto n = static_cast<double>(means.size());
  double mean = 0;
  for (const double m : means) mean += m / n;
  double square = 0;
  for (const double m : means) square += (m - mean) * (m - mean);
  const double reach = student(means.size() - 1) * std::sqrt(square / (n - 1) / n);
  return SavingInterval{mean - reach, mean + reach};
}

std::optional<SavingInterval> saving_on_unseen_gpus(std::span<const predict::Curve> curves,
                                                    const predict::Learner& learner,
                                                    std::span<const Knob> knobs, const Goal& goal,
                                                    const plan::Caution& caution) {
  std::vector<predict::Curve> by_gpu(curves.begin(), curves.end());
  std::map<std::string, std::vector<double>> savings;
  for (predict::Curve& curve : by_gpu) {
    curve.group = curve.known.gpu;
    savings[curve.group];
  }
  if (savings.size() < 3) return std::nullopt;
  ValidationOptions options{
      .learner = &learner, .max_slowdown = goal.max_slowdown, .row_noise = false, .caution = caution};
  options.knobs.assign(knobs.begin(), knobs.end());
  options.host_watts = goal.host_watts.value_or(Watts(0));
  const auto found = validate(by_gpu, by_gpu.size(), options);
  if (!found) return std::nullopt;
  for (const JudgedWorkload& judged : found->judged) savings[judged.gpu].push_back(signed_saving(judged));
  return interval_over_gpus(savings);
}

}  // namespace rubato::experiment
