#include "predict/trees/search.h"

#include <array>
#include <limits>

namespace rubato::predict::trees {
namespace {

using Eigen::Index;

constexpr std::array<unsigned, 4> kRounds = {25, 50, 75, 100};  // ascending: one pass of training tells all
constexpr double kEta = 0.1;

void forget_power(Features& features, const Schema& schema) {
  const auto column = schema.power_column();
  if (!column) return;
  for (std::size_t i = 0; i < features.rows(); ++i)
    features.values[i * features.columns + *column] = std::numeric_limits<float>::quiet_NaN();
}

std::vector<float> targets_of(const Part& part, const Eigen::VectorXd& target) {
  std::vector<float> out;
  out.reserve(part.rows.size());
  for (const std::size_t row : part.rows) out.push_back(static_cast<float>(target[static_cast<Index>(row)]));
  return out;
}

/// Predictions for every row by trees that did not see its fold, at each of kRounds.
Result<std::vector<Eigen::VectorXd>> held_out(const Dataset& data, const Schema& schema,
                                              const Eigen::VectorXd& target, const Choice& choice) {
  std::vector<Eigen::VectorXd> out(kRounds.size(), Eigen::VectorXd::Zero(target.size()));
  for (std::size_t fold = 0; fold < data.folds; ++fold) {
    Part seen = part_of(data, [&](std::size_t, std::size_t curve) { return data.fold[curve] != fold; });
    Part unseen = part_of(data, [&](std::size_t, std::size_t curve) { return data.fold[curve] == fold; });
    if (!choice.with_power) {
      forget_power(seen.features, schema);
      forget_power(unseen.features, schema);
    }
    const auto booster =
        Booster::train(seen.features, targets_of(seen, target), seen.weight, choice.boosting(schema));
    if (!booster) return fail(booster.error());
    const auto predicted = booster->predict(unseen.features, kRounds);
    if (!predicted) return fail(predicted.error());
    for (std::size_t r = 0; r < kRounds.size(); ++r)
      for (std::size_t i = 0; i < unseen.rows.size(); ++i)
        out[r][static_cast<Index>(unseen.rows[i])] = (*predicted)[r][i];
  }
  return out;
}

/// `best` becomes what `candidate` gives, at the fewest rounds that do, where that is better.
Status try_out(const Dataset& data, const Schema& schema, const Eigen::VectorXd& target,
               const Choice& candidate, Searched& best) {
  const auto predicted = held_out(data, schema, target, candidate);
  if (!predicted) return fail(predicted.error());
  for (std::size_t r = 0; r < kRounds.size(); ++r) {
    const double error = mean_error(data, target, (*predicted)[r]);
    if (error >= best.error) continue;
    best = {.choice = candidate, .held_out = (*predicted)[r], .error = error};
    best.choice.rounds = kRounds[r];
  }
  return {};
}

}  // namespace

Boosting Choice::boosting(const Schema& schema) const {
  Boosting out{.max_depth = max_depth, .eta = kEta, .rounds = rounds, .tree_method = "hist", .monotone = {}};
  if (monotone == 0) return out;
  out.monotone = schema.faster();
  for (int& sign : out.monotone) sign *= monotone;
  return out;
}

Result<Searched> search(const Dataset& data, const Schema& schema, const Eigen::VectorXd& target,
                        int direction) {
  const Choice first{.max_depth = 3, .rounds = kRounds.back(), .monotone = direction, .with_power = false};
  Searched best{.choice = first, .held_out = {}, .error = std::numeric_limits<double>::infinity()};
  if (const Status tried = try_out(data, schema, target, first, best); !tried) return fail(tried.error());
  // One thing after the other: every combination would cost twice as much and was hardly better.
  const auto turn = [&](auto change) {
    Choice other = best.choice;
    other.rounds = kRounds.back();
    change(other);
    return try_out(data, schema, target, other, best);
  };
  if (const Status tried = turn([](Choice& c) { c.monotone = 0; }); !tried) return fail(tried.error());
  if (schema.power_column())
    if (const Status tried = turn([](Choice& c) { c.with_power = true; }); !tried) return fail(tried.error());
  if (const Status tried = turn([](Choice& c) { c.max_depth = 2; }); !tried) return fail(tried.error());
  return best;
}

Result<Booster> grow(const Dataset& data, const Schema& schema, const Eigen::VectorXd& target,
                     const Choice& choice) {
  Part all = part_of(data, [](std::size_t, std::size_t) { return true; });
  if (!choice.with_power) forget_power(all.features, schema);
  return Booster::train(all.features, targets_of(all, target), all.weight, choice.boosting(schema));
}

}  // namespace rubato::predict::trees
