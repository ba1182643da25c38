#include <cstdio>

#include "sensor_truth/summary.h"

namespace rubato::truth {
namespace {

void print_head(const char* first) {
  std::printf(
      "\n| %s | runs | inside sampling band | half width, median | 90th pct | with calibration band | "
      "after calibration |\n|---|---|---|---|---|---|---|\n",
      first);
}

void print_row(const std::string& name, const Summary& s) {
  if (s.runs == 0) return;
  std::printf("| %s | %zu | %.1f %% | %.2f %% | %.2f %% | %.1f %% (± %.1f %%) | %.1f %% (± %.1f %%) |\n",
              name.c_str(), s.runs, s.sampling * 100, s.median_width * 100, s.tenth_widest * 100,
              s.uncalibrated * 100, s.uncalibrated_width * 100, s.calibrated * 100, s.calibrated_width * 100);
}

void print_words(const Table& table, std::size_t runs, std::uint64_t seed) {
  std::printf(R"(# Power sensors and the error bands

Made by `rubato-sensor-truth --data DIR --runs %zu --seed %llu` (bench/sensor_truth), in virtual time; DIR holds
`sensors/nvml-power-sensors.csv`, the workbook of Yang, Adamek, Armour (SC24, arXiv 2312.02741): %zu rows, of which %zu
are left out because a cell is missing in them. `tests/measure/sensor_truth_test.cpp` asserts the promise below.

An energy has two bands, never mixed:

- **sampling**: what passed between readings, in the part of the time a sensor does not see, in its averaging window,
  and at the edges of the window asked for. 95 %% of the time the energy *as the board's own gain sees it* lies inside.
- **calibration**: the board's unknown gain and offset; after a calibration what its straight line left.

The promise: over 1,000 simulated runs across all rows of the table at least 93 %% lie inside the sampling band; its
median half width is under 1.5 %% for windows of 5 s and more; and the plain truth lies inside both bands together as
often, before and after a calibration.

## What goes into the sampling band

- **Edges.** A reading tells of the middle of its averaging window, and was refreshed somewhere within the update period
  before it was read: rubato looks that much later. A reading that lags (Kepler, some Maxwell) is set right by its lag
  times its own value. What is left is how much the readings move near the edge, and a swing of half the power that may
  hide below what the sensor can tell apart.
- **Between looks.** A sensor that sees 25 of 100 ms draws a sample. Neighbouring readings say how much samples differ.
  Where the job's iterations are known, what repeats with them counts as the beat, below, and only the rest as chance.
- **The beat.** Near a small ratio of step time and sensor period every look falls on the same moments of an iteration,
  and a longer window helps nothing. The bias is computed harmonic by harmonic (`core/beat.h`) from step time, its
  spread and the period, which is taken from repeated readings where they show another than the told one; the worst
  period within half a percent counts. The readings in a perfect beat do not move at all, so at least a standard
  deviation of 30 %% of the mean power is assumed hidden. Such a window says so in its source. Nothing moves the
  sensor's own phase: what helps is the job's own jitter, another step time (any other clock), or a counter that is
  known to see everything.
- **Counter.** Both edges are as uncertain as the counter's own update step. Whether the counter of a part-time board
  sees more than its readings is not published: rubato assumes it does not. The runs below have both sorts.

## What is assumed in these runs

- Of each board a program knows what is published of its generation: nothing about windows on Maxwell and Turing, where
  boards differ, 80 of 100 ms for GA10x, where boards see 78 to 100; the period as published in half of the runs, as
  measured within 0.2 %% in the others.
- A row with a fitted window is the mean over it, one with a rise of 0.9 s a mean over 1 s, any other a first-order lag
  with that rise. The table's delay between window and refresh is kept; 0.1 %% of noise. Boards older than Volta have no
  energy counter; it moves every 20 or 100 ms.
- Where 1 - r² is left by the table's straight line, the response has a wave of that size. Boards without a meter
  beside them take gain and offset from one that had.
- The reader is late by 0.3 ms, by up to 10 ms once in a hundred times, and misses a read in 500. Three quarters of jobs
  with iterations have marks. A quarter of windows end at the last reading.
- Loads: see the second table. *near beat* draws the step within 1 %% of a ratio of up to 8 to 4 of the sensor's true
  period; other steps come as they come. Board power and idle are data sheet and typical figures.
- The judge shares no code with the estimator, whose constants were chosen on the seeds 4711 to 4714.
)",
              runs, static_cast<unsigned long long>(seed), table.boards.size() + table.left_out,
              table.left_out);
}

void print_uncalibrated(const Table& table) {
  const UncalibratedBand all = uncalibrated_band(table.boards);
  std::printf(R"(
## The band of a board nobody has calibrated

Gains and offsets of the table run from 0.87 to 1.18 and from -24 to +16 W, mostly against each other. The rule: %.0f %% of
the reading (what nvml.h states for Fermi and Kepler) and as many watts as it takes to hold every
measured board at 12 to 100 %% of its power: %.1f W, rounded up to %.0f W in `core/capability.h`. Judged on models left
out, here and in every run:

| left out | floor from the others | inside |
|---|---|---|
)",
              all.fraction * 100, all.floor_w, kUncalibratedFloor.value());
  double sum = 0;
  const auto models = measured_models(table.boards);
  for (const std::string& model : models) {
    const UncalibratedBand others = uncalibrated_band(table.boards, model);
    const double inside = share_inside(table.boards, model, others);
    sum += inside;
    std::printf("| %s | %.1f W | %.0f %% |\n", model.c_str(), others.floor_w, inside * 100);
  }
  std::printf("| **mean of %zu models** | | %.1f %% |\n", models.size(),
              sum / static_cast<double>(models.size()) * 100);
}

void print_limits(const std::vector<Trial>& trials) {
  const Summary unknown =
      summarise(trials, [](const Trial& t) { return t.shape == Shape::near_beat && !t.step_known; });
  const Summary known =
      summarise(trials, [](const Trial& t) { return t.shape == Shape::near_beat && t.step_known; });
  const Summary idle = summarise(trials, [](const Trial& t) { return t.shape == Shape::idle; });
  std::printf(R"(
## What the bands do not do

- **A beat nobody told of** is not held: %.1f %% of the runs near a beat and without iterations lie inside. In step with
  the sensor the readings are constant, and nothing in them tells; iterations shorter than two sensor periods are known from
  marks alone.
- **A beat that is known** is held by a wide band: in one of ten such runs its half width is over %.0f %% of the energy. No
  arithmetic makes it narrower; the source of the window names the beat.
- **Bursts without a rhythm** on sensors that see a fifth or a quarter of the time leave several percent in a window of
  some seconds; it falls with the square root of its length.
- **An idle board without a calibration** lies inside in %.1f %% of the runs: the rule was made for 12 %% of the highest
  power and more, some boards idle below, and an offset of 20 W is all that such a reading shows.
- **No hardware has judged this.** The kinds are those of the workbook; T4, H200, B200 and superchips are not in it.
)",
              unknown.sampling * 100, known.tenth_widest * 100, idle.uncalibrated * 100);
}

}  // namespace

void print_page(const Table& table, const std::vector<Trial>& trials, std::uint64_t seed) {
  const auto everyone = [](const Trial&) { return true; };
  print_words(table, trials.size(), seed);
  print_uncalibrated(table);
  std::printf("\n## Windows of 5 s to 5 min, by sensor\n");
  print_head("sensor");
  for (const std::string& kind : kinds_of(trials))
    for (const bool counter : {false, true})
      print_row(kind + (counter ? ", energy counter" : ""), summarise(trials, [&](const Trial& t) {
                  return t.kind == kind && (t.counter != Counter::none) == counter;
                }));
  print_row("**all**", summarise(trials, everyone));
  std::printf("\n## The same, by load\n");
  print_head("load");
  for (unsigned i = 0; i < kShapes; ++i)
    for (const bool known : {false, true}) {
      const auto shape = static_cast<Shape>(i);
      print_row(std::string(name_of(shape)) + (known ? ", step known" : ""),
                summarise(trials, [&](const Trial& t) { return t.shape == shape && t.step_known == known; }));
    }
  std::printf("\n## Windows of 0.3 to 5 s\n");
  print_head("sensor");
  for (const std::string& kind : kinds_of(trials))
    print_row(kind, summarise(
                        trials, [&](const Trial& t) { return t.kind == kind; }, &Trial::brief));
  print_row("**all**", summarise(trials, everyone, &Trial::brief));
  print_limits(trials);
}

}  // namespace rubato::truth
