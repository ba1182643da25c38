// What asking a model costs: the physical curves over every setting of a GPU with three knobs, the combined
// model over the candidates chosen from them. `of_limit` is the processor's time over the 5 ms a decision may
// take.
#include <benchmark/benchmark.h>

#include <cmath>
#include <ctime>
#include <string>
#include <vector>

#include "predict/model.h"

namespace {

using namespace rubato;
using predict::KnobPoint;

constexpr double kLimitSeconds = 5e-3;
const KnobPoint kHighest{Watts(250), Megahertz(1500), Megahertz(900)};

KnobPoint point(double watts, double sm, double memory) {
  return {Watts(watts), Megahertz(sm), Megahertz(memory)};
}

/// Made up, but of the form real sweeps have: 20 limits and clocks together, 12 workloads of 4 groups.
std::vector<predict::Curve> curves() {
  std::vector<predict::Curve> out;
  for (int w = 0; w < 12; ++w) {
    predict::Curve curve;
    curve.group = std::to_string(w % 4);
    curve.workload = std::to_string(w);
    const double compute = 0.3 + 0.05 * w;
    for (const double sm : {750.0, 900.0, 1100.0, 1300.0, 1500.0}) {
      for (const double watts : {130.0, 170.0, 210.0, 250.0}) {
        const double natural = (120 + 8 * w) * std::pow(sm / 1500, 1.5) + 40;
        const double held = std::min(natural, watts);
        const double clock = sm / 1500 * std::pow(held / natural, 0.6);
        const Seconds time(compute / clock + 1 - compute);
        curve.rows.push_back({.at = point(watts, sm, 900),
                              .time = time,
                              .energy = Watts(held) * time,
                              .repeats = 1,
                              .time_error = {},
                              .energy_error = {}});
      }
    }
    curve.known = {
        .gpu = "made up", .at_default = curve.rows.back(), .highest = kHighest, .features = {}, .probes = {}};
    out.push_back(std::move(curve));
  }
  return out;
}

std::vector<KnobPoint> settings(int limits, int clocks, int memories) {
  std::vector<KnobPoint> out;
  for (int l = 0; l < limits; ++l)
    for (int c = 0; c < clocks; ++c)
      for (int m = 0; m < memories; ++m)
        out.push_back(
            point(250 - 150.0 * l / limits, 1500 - 1000.0 * c / clocks, 900 - 400.0 * m / memories));
  return out;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void asked(benchmark::State& state, const std::string& name, const std::vector<KnobPoint>& at) {
  const std::vector<predict::Curve> known = curves();
  const std::vector knobs = {Knob::power_limit, Knob::sm_clock};
  const auto learner = predict::find_learner(name);
  if (!learner) return state.SkipWithError(learner.error().what.c_str());
  const auto model = (*learner)->learn(known, knobs);
  if (!model) return state.SkipWithError(model.error().what.c_str());
  const double begin = processor_seconds();
  for ([[maybe_unused]] auto _ : state) {
    auto answer = (*model)->predict(known.front().known, at);
    benchmark::DoNotOptimize(answer);
  }
  const double seconds = processor_seconds() - begin;
  state.counters["of_limit"] = seconds / static_cast<double>(state.iterations()) / kLimitSeconds;
}

}  // namespace

BENCHMARK_CAPTURE(asked, physical_over_50000_settings, "physical", settings(25, 200, 10))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(asked, rubato_over_600_candidates, "rubato", settings(10, 20, 3))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
