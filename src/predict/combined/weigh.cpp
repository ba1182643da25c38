// Stacking (Wolpert 1992; Breiman 1996) on relative errors, with groups left out instead of rows, held back
// towards given shares: weights that few groups tell are mostly chance, and equal ones are hard to beat
// (Stock and Watson 2004).
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "predict/combined/stack.h"
#include "predict/mean_curve.h"

namespace rubato::predict::combined {
namespace {

constexpr std::size_t kSharedFolds = 4;  // folds that more groups share
constexpr int kSteps = 10;               // of a weight
constexpr double kTemperature = 0.02;    // relative error at which a mixture counts 1/e of the best one
constexpr double kHeldBack = 0.5;        // share of the error by which moving all the weight has to pay
constexpr double kFewGroups = 0.2;       // the quantile is taken that much of 1/groups higher
constexpr double kLeastScale = 0.6;
constexpr double kMostScale = 2.5;
// Two groups are one difference, and what judges it was learnt from a single one: Student's 95 % quantile
// over the normal one for two degrees of freedom.
constexpr std::size_t kPair = 2;
constexpr double kPairScale = 1.78;

/// A left-out curve at one number of probes.
struct Trial {
  std::vector<std::optional<Prediction>> answers;
  Known known;
  std::vector<std::size_t> judged;  // rows that were not measured
  Eigen::VectorXd log_time;         // of all rows
  Eigen::VectorXd log_energy;
  double weight = 1;
};

std::vector<std::optional<Prediction>> ask(const std::vector<std::unique_ptr<Model>>& models,
                                           const Known& known, std::span<const KnobPoint> at) {
  std::vector<std::optional<Prediction>> out;
  for (const auto& model : models) {
    out.emplace_back();
    if (!model) continue;
    if (auto answer = model->predict(known, at)) out.back() = std::move(*answer);
  }
  return out;
}

/// What the members know least of.
std::optional<std::size_t> widest(const std::vector<std::optional<Prediction>>& answers,
                                  const std::vector<bool>& measured) {
  std::optional<std::size_t> best;
  double most = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (measured[i]) continue;
    double sum = 0;
    for (const auto& answer : answers)
      if (answer) sum += answer->time_deviation(i) + answer->energy_deviation(i);
    if (best && sum <= most) continue;
    best = i;
    most = sum;
  }
  return best;
}

void add_trials(std::array<std::vector<Trial>, kLevels>& trials, const Curve& curve, double weight,
                const std::vector<std::unique_ptr<Model>>& models) {
  const auto n = static_cast<Eigen::Index>(curve.rows.size());
  Trial trial;
  trial.known = curve.known;
  trial.log_time.resize(n);
  trial.log_energy.resize(n);
  trial.weight = weight;
  std::vector<KnobPoint> at;
  std::vector<bool> measured;
  for (std::size_t i = 0; i < curve.rows.size(); ++i) {
    const Observed& row = curve.rows[i];
    at.push_back(row.at);
    measured.push_back(row.at == curve.known.at_default.at);
    trial.log_time[static_cast<Eigen::Index>(i)] = std::log(row.time / curve.known.at_default.time);
    trial.log_energy[static_cast<Eigen::Index>(i)] = std::log(row.energy / curve.known.at_default.energy);
  }
  for (std::size_t level = 0; level < kLevels; ++level) {
    trial.answers = ask(models, trial.known, at);
    trial.judged.clear();
    for (std::size_t i = 0; i < at.size(); ++i)
      if (!measured[i]) trial.judged.push_back(i);
    if (trial.judged.empty()) return;
    trials[level].push_back(trial);
    const auto next = widest(trial.answers, measured);
    if (!next) return;
    measured[*next] = true;
    trial.known.probes.push_back(curve.rows[*next]);
  }
}

/// Every way to share out `left` steps among the members from `from` on.
void share_out(std::vector<Eigen::VectorXd>& out, Eigen::VectorXd& shares, Eigen::Index from, int left) {
  if (from + 1 == shares.size()) {
    shares[from] = static_cast<double>(left) / kSteps;
    out.push_back(shares);
    return;
  }
  for (int take = 0; take <= left; ++take) {
    shares[from] = static_cast<double>(take) / kSteps;
    share_out(out, shares, from + 1, left - take);
  }
}

/// Rows of all trials: each member's prediction less what was measured.
struct Errors {
  Eigen::MatrixXd of;  // rows x members
  Eigen::VectorXd weight;
};

Errors errors_of(const std::vector<Trial>& trials, bool time, Eigen::Index members) {
  std::size_t rows = 0;
  for (const Trial& t : trials) rows += t.judged.size();
  Errors out{Eigen::MatrixXd(static_cast<Eigen::Index>(rows), members),
             Eigen::VectorXd(static_cast<Eigen::Index>(rows))};
  Eigen::Index at = 0;
  for (const Trial& t : trials)
    for (const std::size_t i : t.judged) {
      const auto row = static_cast<Eigen::Index>(i);
      for (Eigen::Index m = 0; m < members; ++m) {
        const auto& answer = t.answers[static_cast<std::size_t>(m)];
        // A member without an answer is judged as one that says nothing changes.
        const double said = !answer ? 0.0 : time ? answer->log_time[row] : answer->log_energy[row];
        out.of(at, m) = said - (time ? t.log_time[row] : t.log_energy[row]);
      }
      out.weight[at++] = t.weight / static_cast<double>(t.judged.size());
    }
  out.weight /= out.weight.sum();
  return out;
}

/// As predictions are judged: the mean of |predicted / measured - 1|.
double error_of(const Errors& errors, const Eigen::VectorXd& mixture) {
  return errors.weight.dot(((errors.of * mixture).array().exp() - 1).abs().matrix());
}

/// All mixtures, averaged by how close each comes to the best. `plain`: the member that has to be beaten.
Eigen::VectorXd weights_for(const std::vector<Trial>& trials, bool time, const Eigen::VectorXd& before,
                            std::optional<Eigen::Index> plain) {
  const Eigen::Index members = before.size();
  std::vector<Eigen::VectorXd> mixtures;
  Eigen::VectorXd shares = Eigen::VectorXd::Zero(members);
  share_out(mixtures, shares, 0, kSteps);
  const Errors errors = errors_of(trials, time, members);
  std::vector<double> error;
  error.reserve(mixtures.size());
  for (const Eigen::VectorXd& mixture : mixtures)
    error.push_back(error_of(errors, mixture) * (1 + kHeldBack * 0.5 * (mixture - before).cwiseAbs().sum()));
  const double best = std::max(1e-9, *std::min_element(error.begin(), error.end()));
  Eigen::VectorXd out = Eigen::VectorXd::Zero(members);
  for (std::size_t i = 0; i < mixtures.size(); ++i)
    out += std::exp(-(error[i] / best - 1) / kTemperature) * mixtures[i];
  out /= out.sum();
  if (!plain) return out;
  const Eigen::VectorXd alone = Eigen::VectorXd::Unit(members, *plain);
  // Which of the two is better is then chance, and both are wrong in other ways.
  if (error_of(errors, out) > error_of(errors, alone)) out = (out + alone) / 2;
  return out;
}

double scale_for(const std::vector<Trial>& trials, const Trust& trust, bool time, std::size_t groups) {
  std::vector<std::pair<double, double>> scores;
  double weights = 0;
  for (const Trial& t : trials) {
    const auto mixed = mix(t.answers, trust, t.known);
    if (!mixed) continue;
    const double noise = time ? mixed->measurement_noise.time : mixed->measurement_noise.energy;
    for (const std::size_t i : t.judged) {
      const auto row = static_cast<Eigen::Index>(i);
      const double deviation = time ? mixed->time_deviation(i) : mixed->energy_deviation(i);
      const double error =
          time ? mixed->log_time[row] - t.log_time[row] : mixed->log_energy[row] - t.log_energy[row];
      const double weight = t.weight / static_cast<double>(t.judged.size());
      scores.emplace_back(std::abs(error) / std::max(1e-6, std::hypot(deviation, noise)), weight);
      weights += weight;
    }
  }
  std::sort(scores.begin(), scores.end());
  const double level = std::min(0.999, 0.9 * (1 + kFewGroups / static_cast<double>(groups)));
  double below = 0;
  for (const auto& [score, weight] : scores) {
    below += weight / weights;
    if (below >= level) return std::clamp(score / kHalfWidth90, kLeastScale, kMostScale);
  }
  return 1;
}

}  // namespace

Result<Trusts> weigh(std::span<const Curve> curves, std::span<const Knob> knobs,
                     const std::vector<const Learner*>& learners, const Eigen::VectorXd& before) {
  Trusts out;
  out.fill(trust_of(before));
  const Eigen::VectorXd shares = out.front().time;
  std::optional<Eigen::Index> plain;
  for (std::size_t m = 0; m < learners.size(); ++m)
    if (learners[m]->name() == mean_curve_learner().name()) plain = static_cast<Eigen::Index>(m);
  std::map<std::string, std::size_t> count;
  for (const Curve& c : curves) ++count[c.group];
  if (count.size() < 2) return out;
  const std::size_t folds = count.size() <= kMostFolds ? count.size() : kSharedFolds;
  std::map<std::string, std::size_t> fold_of;
  for (const auto& [group, members_of_group] : count) {
    const std::size_t fold = fold_of.size() % folds;
    fold_of[group] = fold;
  }
  std::array<std::vector<Trial>, kLevels> trials;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<Curve> rest;
    for (const Curve& c : curves)
      if (fold_of[c.group] != fold) rest.push_back(c);
    std::vector<std::unique_ptr<Model>> models;
    for (const Learner* learner : learners) {
      auto model = learner->learn(rest, knobs);
      models.push_back(model ? std::move(*model) : nullptr);
    }
    for (const Curve& c : curves)
      if (fold_of[c.group] == fold)
        add_trials(trials, c, 1 / std::sqrt(static_cast<double>(count[c.group])), models);
  }
  for (std::size_t level = 0; level < kLevels; ++level) {
    Trust& trust = out[level];
    if (count.size() == kPair) trust.far_scale = kPairScale;
    if (trials[level].empty()) {
      if (level > 0) trust = out[level - 1];
      continue;
    }
    trust.time = weights_for(trials[level], true, shares, plain);
    trust.energy = weights_for(trials[level], false, shares, plain);
    const double time_scale = scale_for(trials[level], trust, true, count.size());
    trust.energy_scale = scale_for(trials[level], trust, false, count.size());
    trust.time_scale = time_scale;
  }
  return out;
}

}  // namespace rubato::predict::combined
