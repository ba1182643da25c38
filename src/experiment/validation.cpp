#include "experiment/validation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "experiment/held_out.h"

namespace rubato::experiment {
namespace {

using predict::Curve;

class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++n_;
  }
  [[nodiscard]] std::optional<double> value() const {
    if (n_ == 0) return std::nullopt;
    return sum_ / static_cast<double>(n_);
  }

 private:
  double sum_ = 0;
  std::size_t n_ = 0;
};

/// What is left out together: positions in the table.
struct Fold {
  std::string group;
  std::vector<std::size_t> held_out;
};

std::vector<Fold> folds_of(std::span<const Curve> table) {
  std::vector<Fold> folds;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto same = [&](const Fold& fold) { return fold.group == table[i].group; };
    auto fold = std::find_if(folds.begin(), folds.end(), same);
    if (fold == folds.end()) fold = folds.insert(folds.end(), Fold{table[i].group, {}});
    fold->held_out.push_back(i);
  }
  return folds;
}

Status judge_fold(const Fold& fold, const predict::Model& model, std::span<const Curve> table,
                  const ValidationOptions& options, std::vector<JudgedWorkload>& to) {
  for (const std::size_t i : fold.held_out) {
    auto judged = judge(model, table[i], options);
    if (!judged)
      return fail(judged.error().code, cat("workload '", table[i].workload, "': ", judged.error().what),
                  judged.error().hint);
    to[i] = std::move(*judged);
  }
  return {};
}

Status leave_out(const Fold& fold, const predict::Learner& learner, std::span<const Curve> table,
                 const ValidationOptions& options, std::vector<JudgedWorkload>& to) {
  std::vector<Curve> others;
  for (const Curve& curve : table)
    if (curve.group != fold.group) others.push_back(curve);
  const auto model = learner.learn(others, options.knobs);
  if (!model)
    return fail(model.error().code, cat("without group '", fold.group, "': ", model.error().what),
                model.error().hint);
  return judge_fold(fold, **model, table, options, to);
}

/// The first error in the order of the folds, so that threads make no difference.
template <class Work>
Status for_every_fold(const std::vector<Fold>& folds, const ValidationOptions& options, Work work) {
  std::vector<Status> done(folds.size());
  std::atomic<std::size_t> next{0};
  std::mutex telling;
  std::size_t judged = 0;
  {
    std::vector<std::jthread> pool;
    for (unsigned i = 0; i < std::max(1U, options.threads); ++i)
      pool.emplace_back([&] {
        for (std::size_t f = next++; f < folds.size(); f = next++) {
          done[f] = work(folds[f]);
          const std::lock_guard lock(telling);
          if (options.progress) options.progress(++judged, folds.size());
        }
      });
  }
  for (Status& status : done)
    if (!status) return std::move(status);
  return {};
}

}  // namespace

Result<Validation> validate(std::span<const Curve> table, std::size_t workloads,
                            const ValidationOptions& options, std::span<const Curve> train) {
  const std::vector<Fold> folds = folds_of(table);
  if (train.empty() && folds.size() < 2)
    return fail(ErrorCode::invalid_argument,
                cat("the table has ", folds.size(), " group; leaving one out needs 2 or more"),
                "name another table to learn from: --train FILE");
  Validation out{.groups = folds.size(), .workloads = workloads, .workloads_distinct = table.size()};
  out.judged.resize(table.size());
  Status done;
  if (train.empty()) {
    const auto remembering = options.learner->remembering();
    const predict::Learner& learner = remembering ? *remembering : *options.learner;
    done = for_every_fold(folds, options, [&](const Fold& fold) {
      return leave_out(fold, learner, table, options, out.judged);
    });
  } else {
    const auto model = options.learner->learn(train, options.knobs);
    if (!model) return fail(model.error());
    done = for_every_fold(folds, options, [&](const Fold& fold) {
      return judge_fold(fold, **model, table, options, out.judged);
    });
  }
  if (!done) return fail(done.error());
  summarise(out);
  return out;
}

void summarise(Validation& validation) {
  Mean time;
  Mean energy;
  Mean edp;
  Mean time_inside;
  Mean energy_inside;
  Mean inside;
  Mean energy_regret;
  Mean edp_regret;
  Mean saving;
  Mean oracle;
  validation.at_bound.worst_slowdown = 0;
  for (const JudgedWorkload& w : validation.judged) {
    for (const JudgedRow& row : w.rows) {
      if (row.probed) continue;
      const double t = row.predicted_time / row.time;
      const double e = row.predicted_energy / row.energy;
      time.add(std::abs(t - 1));
      energy.add(std::abs(e - 1));
      edp.add(std::abs(t * e - 1));
      time_inside.add(row.time_inside ? 1 : 0);
      energy_inside.add(row.energy_inside ? 1 : 0);
      inside.add(row.time_inside ? 1 : 0);
      inside.add(row.energy_inside ? 1 : 0);
    }
    energy_regret.add(w.energy_regret);
    edp_regret.add(w.edp_regret);
    saving.add(w.saving);
    oracle.add(w.oracle_saving);
    validation.at_bound.worst_slowdown = std::max(validation.at_bound.worst_slowdown, w.slowdown);
  }
  validation.errors = {time.value(), energy.value(), edp.value()};
  validation.coverage = {inside.value(), time_inside.value(), energy_inside.value()};
  validation.energy_regret = energy_regret.value().value_or(0);
  validation.edp_regret = edp_regret.value().value_or(0);
  validation.at_bound.saving = saving.value().value_or(0);
  validation.at_bound.oracle_saving = oracle.value().value_or(0);
  validation.at_bound.captured.reset();
  if (validation.at_bound.oracle_saving > 0)
    validation.at_bound.captured = validation.at_bound.saving / validation.at_bound.oracle_saving;
}

}  // namespace rubato::experiment
