#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "predict/combined/stack.h"

namespace rubato::predict::combined {
namespace {

using nlohmann::json;

/// Raised so that those who answered add up to one; equal where none of them had any weight.
Eigen::VectorXd raised(const Eigen::VectorXd& weights,
                       const std::vector<std::optional<Prediction>>& answers) {
  Eigen::VectorXd out = weights;
  double answered = 0;
  for (std::size_t m = 0; m < answers.size(); ++m) {
    const auto i = static_cast<Eigen::Index>(m);
    if (answers[m])
      ++answered;
    else
      out[i] = 0;
  }
  if (out.sum() > 1e-9) return out / out.sum();
  for (std::size_t m = 0; m < answers.size(); ++m)
    out[static_cast<Eigen::Index>(m)] = answers[m] ? 1 / answered : 0;
  return out;
}

json to_json(const Eigen::VectorXd& v) {
  return std::vector<double>(v.begin(), v.end());
}

}  // namespace

Trust trust_of(const Eigen::VectorXd& shares) {
  const Eigen::VectorXd weights = shares / shares.sum();
  return {weights, weights};
}

Trust for_unlike(Trust trust, double unlike, std::size_t probes) {
  const double far = unlike / static_cast<double>(probes + 1);
  for (double* scale : {&trust.time_scale, &trust.energy_scale}) {
    if (*scale < 1) *scale = std::pow(*scale, 1 - far);
    *scale *= 1 + far * (trust.far_scale - 1);
  }
  return trust;
}

Result<Prediction> mix(const std::vector<std::optional<Prediction>>& answers, const Trust& trust,
                       const Known& known) {
  const Prediction* any = nullptr;
  Eigen::Index columns = 0;
  for (const auto& answer : answers)
    if (answer) {
      any = &*answer;
      columns += answer->time_factor.cols() + 1;
    }
  if (any == nullptr) return fail(ErrorCode::internal, "no member of the combined model has an answer");
  const auto n = static_cast<Eigen::Index>(any->size());
  const Eigen::VectorXd time = raised(trust.time, answers);
  const Eigen::VectorXd energy = raised(trust.energy, answers);
  Prediction out{.at = any->at,
                 .log_time = Eigen::VectorXd::Zero(n),
                 .log_energy = Eigen::VectorXd::Zero(n),
                 .time_factor = Eigen::MatrixXd::Zero(n, columns),
                 .energy_factor = Eigen::MatrixXd::Zero(n, columns),
                 .time_own = Eigen::VectorXd::Zero(n),
                 .energy_own = Eigen::VectorXd::Zero(n),
                 .measurement_noise = {}};
  for (std::size_t m = 0; m < answers.size(); ++m) {
    if (!answers[m]) continue;
    const auto i = static_cast<Eigen::Index>(m);
    out.log_time += time[i] * answers[m]->log_time;
    out.log_energy += energy[i] * answers[m]->log_energy;
    out.measurement_noise.time += time[i] * answers[m]->measurement_noise.time * trust.time_scale;
    out.measurement_noise.energy += energy[i] * answers[m]->measurement_noise.energy * trust.energy_scale;
  }
  // A mixture's spread is its members' own and how far apart they are.
  Eigen::Index column = 0;
  for (std::size_t m = 0; m < answers.size(); ++m) {
    if (!answers[m]) continue;
    const Prediction& p = *answers[m];
    const auto i = static_cast<Eigen::Index>(m);
    const double t = std::sqrt(time[i]) * trust.time_scale;
    const double e = std::sqrt(energy[i]) * trust.energy_scale;
    const Eigen::Index r = p.time_factor.cols();
    out.time_factor.middleCols(column, r) = t * p.time_factor;
    out.energy_factor.middleCols(column, r) = e * p.energy_factor;
    out.time_factor.col(column + r) = t * (p.log_time - out.log_time);
    out.energy_factor.col(column + r) = e * (p.log_energy - out.log_energy);
    out.time_own += (t * p.time_own).cwiseAbs2();
    out.energy_own += (e * p.energy_own).cwiseAbs2();
    column += r + 1;
  }
  out.time_own = out.time_own.cwiseSqrt();
  out.energy_own = out.energy_own.cwiseSqrt();

  const auto exact = [&](Eigen::Index i, const Observed& row) {
    out.log_time[i] = std::log(row.time / known.at_default.time);
    out.log_energy[i] = std::log(row.energy / known.at_default.energy);
    out.time_factor.row(i).setZero();
    out.energy_factor.row(i).setZero();
    out.time_own[i] = 0;
    out.energy_own[i] = 0;
  };
  for (Eigen::Index i = 0; i < n; ++i) {
    const KnobPoint& at = out.at[static_cast<std::size_t>(i)];
    for (const Observed& probe : known.probes)
      if (probe.at == at) exact(i, probe);
    if (at == known.at_default.at) exact(i, known.at_default);
  }
  return out;
}

json state_of(const Trusts& trusts) {
  json out = json::array();
  for (const Trust& t : trusts)
    out.push_back({{"time", to_json(t.time)},
                   {"energy", to_json(t.energy)},
                   {"time_scale", t.time_scale},
                   {"energy_scale", t.energy_scale},
                   {"far_scale", t.far_scale}});
  return out;
}

Result<Trusts> read_trusts(const json& state, std::size_t members) {
  const auto corrupt = [](std::string_view why) {
    return fail(ErrorCode::corrupt, cat("the state of a combined model cannot be read: ", why));
  };
  try {
    Trusts out;
    if (state.size() != kLevels) return corrupt("it has another number of probe levels");
    for (std::size_t level = 0; level < kLevels; ++level) {
      const json& one = state.at(level);
      const auto time = one.at("time").get<std::vector<double>>();
      const auto energy = one.at("energy").get<std::vector<double>>();
      if (time.size() != members || energy.size() != members)
        return corrupt("it has not one weight for each member");
      const auto n = static_cast<Eigen::Index>(members);
      out[level] = {Eigen::Map<const Eigen::VectorXd>(time.data(), n),
                    Eigen::Map<const Eigen::VectorXd>(energy.data(), n), one.at("time_scale").get<double>(),
                    one.at("energy_scale").get<double>(), one.at("far_scale").get<double>()};
      if (!(out[level].time_scale > 0) || !(out[level].energy_scale > 0) || !(out[level].far_scale > 0))
        return corrupt("a scale is not positive");
      if (out[level].time.minCoeff() < 0 || out[level].energy.minCoeff() < 0)
        return corrupt("a weight is negative");
    }
    return out;
  } catch (const json::exception& error) {
    return corrupt(error.what());
  }
}

}  // namespace rubato::predict::combined
