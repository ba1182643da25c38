#include "period_truth/program.h"

#include <algorithm>
#include <cmath>

#include "period_truth/draw.h"
#include "period_truth/recipe.h"
#include "period_truth/training.h"
#include "period_truth/writer.h"

namespace rubato::period_truth {
namespace {

/// Long enough that something of this length happens often: with too few of them nothing could be said.
double draw_until(double one_s, Random& random) {
  return std::clamp(one_s * log_uniform(random, 20, 100), 30.0, 300.0);
}

/// Batches of any length: work and gaps whose lengths spread so far that no period is left.
void write_bursts(Writer& writer, Random& random) {
  const double work_s = log_uniform(random, 0.2, 3);
  const double gap_s = work_s * random.uniform(0.05, 0.6);
  const double spread = random.uniform(0.6, 1);
  const double until = draw_until(work_s + gap_s, random);
  const bool mixed_levels = chance(random, 0.5);
  Piece piece = draw_piece(random);
  piece.level = std::max(piece.level, 0.4);
  piece.busy = 1;
  while (writer.now() < until) {
    if (mixed_levels) piece.level = random.uniform(0.3, 1);
    piece.seconds = work_s * log_normal(random, spread);
    writer.work(piece, 1);
    const double wait_s = exponential(random, gap_s);
    writer.wait(wait_s, random.uniform(0, 0.15));
  }
}

/// Requests arrive by chance and queue for one server.
void write_inference(Writer& writer, Random& random) {
  const double rate = log_uniform(random, 0.3, 10);
  const double until = draw_until(1 / rate, random);
  const double service_s = random.uniform(0.2, 0.8) / rate;
  const double spread = random.uniform(0.4, 0.9);
  Piece piece = draw_piece(random);
  piece.level = random.uniform(0.3, 0.9);
  piece.busy = 1;
  double arrival = exponential(random, 1 / rate);
  while (writer.now() < until) {
    if (arrival > writer.now()) writer.wait(arrival - writer.now(), 0.08);
    piece.seconds = service_s * log_normal(random, spread);
    writer.work(piece, random.uniform(0.9, 1.1));
    arrival += exponential(random, 1 / rate);
  }
}

/// Constant work whose power wanders: one or two Ornstein-Uhlenbeck processes.
void write_wander(Writer& writer, Random& random) {
  const double until = log_uniform(random, 20, 180);
  const double tau[2] = {log_uniform(random, 0.5, 20), log_uniform(random, 0.1, 5)};
  const double size[2] = {log_uniform(random, 0.01, 0.12),
                          chance(random, 0.5) ? log_uniform(random, 0.005, 0.06) : 0};
  double state[2] = {random.normal(), random.normal()};
  constexpr double kStep = 0.02;
  Piece piece = draw_piece(random);
  piece.busy = 1;
  const double middle = random.uniform(0.35, 0.8);
  while (writer.now() < until) {
    piece.level = middle;
    for (int i = 0; i < 2; ++i) {
      const double keep = std::exp(-kStep / tau[i]);
      state[i] = keep * state[i] + std::sqrt(1 - keep * keep) * random.normal();
      piece.level += size[i] * state[i];
    }
    piece.level = std::clamp(piece.level, 0.0, 1.0);
    piece.seconds = kStep;
    writer.work(piece, 1);
  }
}

/// Play, then learn: both as long as it happens to take.
void write_rollouts(Writer& writer, Random& random) {
  const double play_s = log_uniform(random, 0.5, 6);
  const double learn_s = play_s * random.uniform(0.2, 1.5);
  const double spread = random.uniform(0.6, 0.9);
  const double until = draw_until(play_s + learn_s, random);
  const double learn_level = random.uniform(0.5, 0.95);
  while (writer.now() < until) {
    const double play_until = writer.now() + play_s * log_normal(random, spread);
    while (writer.now() < play_until) {
      writer.work({log_uniform(random, 0.003, 0.05), random.uniform(0.1, 0.4), 1, 0.1, 0.3}, 1);
      writer.wait(exponential(random, 0.02), 0.05);
    }
    const double learn_until = writer.now() + learn_s * log_normal(random, spread);
    while (writer.now() < learn_until)
      writer.work({exponential(random, 0.1), learn_level * random.uniform(0.8, 1), 1, 0.4, 0.6}, 1);
  }
}

Program draw_without_steps(Family family, Random& random) {
  Program program;
  program.family = family;
  Writer writer(program, {{0, 1}});
  if (family == Family::bursts) write_bursts(writer, random);
  if (family == Family::inference) write_inference(writer, random);
  if (family == Family::wander) write_wander(writer, random);
  if (family == Family::reinforcement) write_rollouts(writer, random);
  if (family == Family::flat) {
    Piece piece = draw_piece(random);
    piece.seconds = log_uniform(random, 20, 180);
    writer.work(piece, 1);
  }
  return program;
}

}  // namespace

Program draw_program(Family family, Random& random) {
  if (!has_iterations(family)) return draw_without_steps(family, random);
  const Training training = draw_training(family, random);
  return write_training(family, training, random);
}

}  // namespace rubato::period_truth
