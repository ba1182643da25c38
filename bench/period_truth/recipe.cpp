#include "period_truth/recipe.h"

#include "period_truth/draw.h"

namespace rubato::period_truth {
namespace {

/// Kernels whose lengths span two decades.
Recipe draw_kernels(Random& random) {
  Recipe recipe;
  const int count = static_cast<int>(log_uniform(random, 3, 60));
  for (int i = 0; i < count; ++i) {
    recipe.push_back(draw_piece(random));
    recipe.back().seconds = log_uniform(random, 0.01, 1);
  }
  return recipe;
}

/// A block of kernels once per layer, and backwards with about twice the work.
Recipe draw_layers(Random& random) {
  Recipe block;
  const int kernels = between(random, 2, 6);
  for (int i = 0; i < kernels; ++i) {
    block.push_back(draw_piece(random));
    block.back().seconds = log_uniform(random, 0.05, 1);
  }
  const int layers = static_cast<int>(log_uniform(random, 4, 48));
  const double shrink = log_normal(random, 0.5 / layers);
  const double backward = random.uniform(1.5, 2.5);
  const double backward_level = random.uniform(0.85, 1.1);
  Recipe recipe;
  double scale = 1;
  for (int layer = 0; layer < layers; ++layer, scale *= shrink)
    for (Piece piece : block) {
      piece.seconds *= scale;
      recipe.push_back(piece);
    }
  for (int layer = 0; layer < layers; ++layer) {
    scale /= shrink;
    for (auto piece = block.rbegin(); piece != block.rend(); ++piece) {
      Piece back = *piece;
      back.seconds *= scale * backward;
      back.level = std::min(1.0, back.level * backward_level);
      recipe.push_back(back);
    }
  }
  const double forward = seconds_of(recipe);
  recipe.push_back({forward * log_uniform(random, 0.01, 0.15), random.uniform(0.25, 0.6), 1, 0.8, 0.1});
  if (chance(random, 0.7))
    recipe.push_back({forward * log_uniform(random, 0.005, 0.15), random.uniform(0, 0.2), 0, 0, 0});
  return recipe;
}

}  // namespace

double seconds_of(const Recipe& recipe) {
  double sum = 0;
  for (const Piece& piece : recipe) sum += piece.seconds;
  return sum;
}

Recipe scaled_to(Recipe recipe, double seconds) {
  const double factor = seconds / seconds_of(recipe);
  for (Piece& piece : recipe) piece.seconds *= factor;
  return recipe;
}

Recipe joined(Recipe first, const Recipe& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Piece draw_piece(Random& random) {
  const double kind = random.uniform();
  if (kind < 0.5) return {0, random.uniform(0.55, 1), 1, random.uniform(0.05, 0.5), random.uniform(0.6, 1)};
  if (kind < 0.85) return {0, random.uniform(0.3, 0.7), 1, random.uniform(0.4, 1), random.uniform(0, 0.5)};
  return {0, random.uniform(0, 0.25), random.uniform(0, 0.3), 0, random.uniform(0, 0.2)};
}

Recipe draw_recipe(double seconds, Random& random) {
  return scaled_to(chance(random, 0.5) ? draw_kernels(random) : draw_layers(random), seconds);
}

Recipe draw_micro_batches(double seconds, int count, Random& random) {
  const double step_share = log_uniform(random, 0.03, 0.3);
  const Recipe one = draw_recipe(seconds * (1 - step_share) / count, random);
  Recipe all;
  for (int i = 0; i < count; ++i) all = joined(std::move(all), one);
  const double exchange = random.uniform(0, 0.7);
  Recipe step;
  if (exchange > 0.1) step.push_back({exchange, random.uniform(0.1, 0.4), 1, random.uniform(0.1, 0.4), 0.05});
  step.push_back({1 - exchange, random.uniform(0.2, 0.6), 1, random.uniform(0.6, 1), 0.1});
  return joined(std::move(all), scaled_to(std::move(step), seconds * step_share));
}

Recipe draw_low_contrast(double seconds, Random& random) {
  const Piece base{0, random.uniform(0.5, 0.95), 1, random.uniform(0.1, 0.6), random.uniform(0.3, 1)};
  Recipe recipe;
  const int dips = between(random, 1, 2);
  for (int i = 0; i < dips; ++i) {
    recipe.push_back(base);
    recipe.back().seconds = random.uniform(0.3, 1);
    Piece dip = base;
    dip.level *= 1 - log_uniform(random, 0.02, 0.1);
    dip.seconds = recipe.back().seconds * log_uniform(random, 0.05, 0.35);
    recipe.push_back(dip);
  }
  return scaled_to(std::move(recipe), seconds);
}

}  // namespace rubato::period_truth
