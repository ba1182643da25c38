// Trains boosted trees on rows of numbers (last column: the target) as the learner "trees" does, and predicts
// by rubato's own walk and by XGBoost. Prints processor seconds as JSON: bench/trees_cost.py compares them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "base/text.h"
#include "predict/trees/booster.h"
#include "predict/trees/forest.h"
#include "predict/trees/trees.h"

namespace rubato::bench {
namespace {

using predict::trees::Booster;
using predict::trees::Boosting;
using predict::trees::Features;
using predict::trees::Forest;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The quickest of several: others disturb a pass, nothing speeds it up.
template <class Work>
double best_of(int repeats, Work work) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) {
    const double begin = processor_seconds();
    work();
    best = std::min(best, processor_seconds() - begin);
  }
  return best;
}

using predict::Curve;
using predict::KnobPoint;

/// A workload over `steps` x `steps` SM and memory clocks; numbers alone matter here, not what they say.
Curve made_curve(int index, int steps) {
  Curve curve{.workload = cat("w", index), .group = cat("g", index / 2), .known = {}, .rows = {}};
  const double share = (index % 10) / 10.0;
  for (int i = 1; i <= steps; ++i)
    for (int j = 1; j <= steps; ++j) {
      const double sm = static_cast<double>(i) / steps;
      const double memory = static_cast<double>(j) / steps;
      const double time = share / sm + (1 - share) / memory;
      curve.rows.push_back({.at = {.power_limit = {},
                                   .sm_clock = Megahertz(2000 * sm),
                                   .memory_clock = Megahertz(9000 * memory)},
                            .time = Seconds(time),
                            .energy = Watts(50 + 200 * sm * sm + 30 * memory) * Seconds(time),
                            .repeats = 1,
                            .time_error = {},
                            .energy_error = {}});
    }
  curve.known = {.gpu = "made",
                 .at_default = curve.rows.back(),
                 .highest = curve.rows.back().at,
                 .features = {},
                 .probes = {}};
  return curve;
}

/// The whole answer for 600 settings: inputs, trees, residuals, with two probes.
double question_s(int repeats) {
  std::vector<Curve> curves;
  curves.reserve(20);
  for (int i = 0; i < 20; ++i) curves.push_back(made_curve(i, 5));
  const std::vector<Knob> knobs = {Knob::sm_clock, Knob::memory_clock};
  const auto model = predict::trees::trees_learner().learn(curves, knobs);
  if (!model) return std::numeric_limits<double>::infinity();
  const Curve asked = made_curve(3, 25);
  std::vector<KnobPoint> at;
  for (std::size_t i = 0; i < 600; ++i) at.push_back(asked.rows[i].at);
  predict::Known known = asked.known;
  known.probes = {asked.rows[10], asked.rows[400]};
  return best_of(repeats, [&] { (void)(*model)->predict(known, at); });
}

int run(const std::string& path, int repeats) {
  std::ifstream stream(path);
  Features features;
  std::vector<float> targets;
  for (std::string line; std::getline(stream, line);) {
    const auto cells = split(line, ',');
    features.columns = cells.size() - 1;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const auto value = parse_number(cells[c]);
      if (!value) {
        std::fprintf(stderr, "%s: '%s' is no number\n", path.c_str(), cells[c].c_str());
        return 1;
      }
      (c + 1 == cells.size() ? targets : features.values).push_back(static_cast<float>(*value));
    }
  }
  const Boosting boosting{};
  const auto booster = Booster::train(features, targets, {}, boosting);
  if (!booster) {
    std::fprintf(stderr, "%s\n%s\n", booster.error().what.c_str(), booster.error().hint.c_str());
    return 1;
  }
  const auto saved = booster->json();
  const auto forest = Forest::read(*saved, features.columns);
  if (!forest) {
    std::fprintf(stderr, "%s\n", forest.error().what.c_str());
    return 1;
  }
  const unsigned rounds = boosting.rounds;
  double sum = 0;
  const double train_s = best_of(repeats, [&] { (void)Booster::train(features, targets, {}, boosting); });
  const double walk_s = best_of(repeats, [&] {
    for (std::size_t i = 0; i < features.rows(); ++i) sum += forest->predict(features.row(i));
  });
  const double xgboost_s = best_of(repeats, [&] { (void)booster->predict(features, {&rounds, 1}); });
  nlohmann::json predicted = nlohmann::json::array();
  for (std::size_t i = 0; i < features.rows(); ++i) predicted.push_back(forest->predict(features.row(i)));
  const nlohmann::json out = {
      {"rows", features.rows()},          {"train_s", train_s},     {"predict_s", walk_s},
      {"xgboost_s", xgboost_s},           {"predicted", predicted}, {"sum", sum},
      {"question_s", question_s(repeats)}};
  std::printf("%s\n", out.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace rubato::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: rubato-trees-cost ROWS.csv REPEATS\n");
    return 2;
  }
  return rubato::bench::run(argv[1], std::max(1, std::atoi(argv[2])));
}
