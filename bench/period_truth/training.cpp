#include "period_truth/training.h"

#include <algorithm>
#include <cmath>

#include "period_truth/draw.h"
#include "period_truth/writer.h"

namespace rubato::period_truth {
namespace {

constexpr double kShortest = 20;
constexpr double kLongest = 600;

double draw_length(double step_s, int fewest, int most, Random& random) {
  return std::clamp(step_s * log_uniform(random, fewest, most), kShortest, kLongest);
}

void add_epochs(Training& t, double step_s, Random& random) {
  t.epoch_steps = between(random, 5, 60);
  const bool evaluates = chance(random, 0.7);
  if (evaluates) {
    t.evaluation = draw_recipe(step_s * random.uniform(0.15, 0.6), random);
    t.evaluation_batches = std::max(1, static_cast<int>(t.epoch_steps * random.uniform(0.05, 0.4)));
  }
  // Pauses that take longer than the training between them would be the job.
  if (!evaluates || chance(random, 0.4))
    t.checkpoint_s = std::min(log_uniform(random, 0.5, 8), 0.5 * t.epoch_steps * step_s);
}

void add_stalls(Training& t, double step_s, Random& random) {
  t.stall_chance = log_uniform(random, 0.02, 0.2);
  t.stall_s = step_s * log_uniform(random, 0.1, 0.8);
  t.stall_tail = random.uniform(1.2, 2.5);
}

void add_clock_changes(Training& t, Random& random) {
  const int changes = between(random, 1, 3);
  double speed = chance(random, 0.5) ? 1 : random.uniform(0.6, 1);
  t.speeds = {{0, speed}};
  for (int i = 0; i < changes; ++i) {
    const double next = random.uniform(0.55, 1);
    t.speeds.emplace_back(t.length_s * (i + random.uniform(0.3, 1)) / (changes + 0.5), next);
  }
}

void load(const Training& t, Writer& writer, Random& random) {
  // Reading files, building the graph, copying weights: mostly idle, some bursts.
  while (writer.now() < t.loading_s) {
    const double idle_s = exponential(random, 1.2);
    writer.wait(idle_s, random.uniform(0, 0.1));
    if (chance(random, 0.5))
      writer.work({exponential(random, 0.4), random.uniform(0.1, 0.6), 0.5, 0.3, 0.2}, 1);
  }
}

void pause(const Training& t, Writer& writer, Random& random) {
  for (int i = 0; i < t.evaluation_batches; ++i)
    for (const Piece& piece : t.evaluation) writer.work(piece, log_normal(random, t.piece_jitter));
  if (t.checkpoint_s > 0) writer.wait(t.checkpoint_s * log_normal(random, 0.1), 0.05);
}

}  // namespace

Training draw_training(Family family, Random& random) {
  Training t;
  double step = log_uniform(random, 0.3, 5);
  if (family == Family::brief) step = log_uniform(random, 0.05, 0.3);
  if (family == Family::lengthy) step = log_uniform(random, 5, 30);
  if (family == Family::epochs || family == Family::mixed) step = log_uniform(random, 0.3, 3);
  // Where the length of an iteration varies, the median needs more of them to be a number.
  const bool varies = family == Family::jitter || family == Family::drift || family == Family::clock_change;
  if (family == Family::lengthy)
    t.length_s = draw_length(step, 9, 20, random);
  else
    t.length_s = draw_length(step, varies ? 40 : 14, varies ? 200 : 100, random);
  t.jitter = log_uniform(random, 0.001, 0.015);
  t.piece_jitter = log_uniform(random, 0.001, 0.02);
  if (family == Family::low_contrast)
    t.turns = {draw_low_contrast(step, random)};
  else if (family == Family::micro_batches || family == Family::mixed) {
    t.parts = static_cast<int>(log_uniform(random, 2, 33));
    t.turns = {draw_micro_batches(step, t.parts, random)};
  } else if (family == Family::pair) {
    const double share = random.uniform(0.3, 0.7);
    t.parts = 2;
    t.turns = {draw_recipe(step * share, random), draw_recipe(step * (1 - share), random)};
  } else
    t.turns = {draw_recipe(step, random)};

  if (family == Family::epochs) add_epochs(t, step, random);
  if (family == Family::jitter) t.jitter = log_uniform(random, 0.005, 0.1);
  if (family == Family::drift) {
    const double sign = chance(random, 0.7) ? 1 : -1;
    t.drift = sign * log_uniform(random, 0.03, 0.25);
    t.drift_settles = chance(random, 0.5);
  }
  if (family == Family::stalls) add_stalls(t, step, random);
  if (family == Family::clock_change) add_clock_changes(t, random);
  if (family == Family::slow_start) {
    t.loading_s = log_uniform(random, 3, 30);
    t.length_s = std::min(kLongest, t.length_s + t.loading_s);
  }
  if (family == Family::background || (family == Family::mixed && chance(random, 0.5))) {
    t.background_w = log_uniform(random, 1, 8);
    t.background_s = log_uniform(random, 8, 60);
  }
  if (family == Family::mixed) {
    t.jitter = log_uniform(random, 0.003, 0.03);
    add_epochs(t, step, random);
    add_stalls(t, step, random);
    t.stall_chance *= 0.5;
    t.loading_s = chance(random, 0.5) ? log_uniform(random, 1, 10) : 0;
    t.length_s = std::min(kLongest, t.length_s * 1.5 + t.loading_s);
  }
  return t;
}

Program write_training(Family family, const Training& t, Random& random) {
  Program program;
  program.family = family;
  program.parts = t.parts;
  program.epoch_steps = t.epoch_steps;
  program.background_w = t.background_w;
  program.background_s = t.background_s;
  Writer writer(program, t.speeds);
  if (t.loading_s > 0) load(t, writer, random);
  int in_epoch = 0;
  while (writer.now() < t.length_s) {
    const double passed = writer.now() / t.length_s;
    const double course = t.drift_settles ? -std::expm1(-4 * passed) : passed;
    const double factor = (1 + t.drift * course) * log_normal(random, t.jitter);
    writer.begin_step();
    if (chance(random, t.stall_chance)) {
      const double longest = 0.1 * t.length_s;
      const double stall_s = std::min(longest, pareto(random, t.stall_s, t.stall_tail));
      writer.stall(stall_s, random.uniform(0, 0.1));
    }
    for (const Recipe& turn : t.turns)
      for (const Piece& piece : turn) writer.work(piece, factor * log_normal(random, t.piece_jitter));
    writer.end_step();
    if (t.epoch_steps > 0 && ++in_epoch == t.epoch_steps) {
      pause(t, writer, random);
      in_epoch = 0;
    }
  }
  return program;
}

}  // namespace rubato::period_truth
