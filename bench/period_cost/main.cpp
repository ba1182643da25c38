// What finding the period costs: whole traces, and one more sample of a trace long decided on. With files it
// runs the detectors over them instead (files.h).
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/text.h"
#include "files.h"
#include "progress/detectors.h"
#include "traces.h"

namespace {

using namespace rubato;
using namespace rubato::bench;

constexpr double kRate = 20;  // samples a second
constexpr Seconds kWhole{60};
constexpr Seconds kSettled{120};
constexpr std::uint64_t kSeed = 5;

struct Case {
  const progress::DetectorKind& kind;
  Shape shape;
};

// The two numbers of a benchmark's name are the detector's and the shape's; the label says them in words.
Case case_of(benchmark::State& state) {
  constexpr std::array kShapes = {"plain", "nested", "aperiodic"};
  const auto& kind = progress::detectors()[static_cast<std::size_t>(state.range(0))];
  state.SetLabel(cat(kind.name, ", ", kShapes.at(static_cast<std::size_t>(state.range(1)))));
  return {kind, static_cast<Shape>(state.range(1))};
}

void every_case(benchmark::internal::Benchmark* benchmark) {
  const auto detectors = static_cast<std::int64_t>(progress::detectors().size());
  for (std::int64_t detector = 0; detector < detectors; ++detector)
    for (std::int64_t shape = 0; shape < 3; ++shape) benchmark->Args({detector, shape});
}

void whole_trace(benchmark::State& state) {
  const auto [kind, shape] = case_of(state);
  const auto points = make_trace(shape, kWhole, kRate, kSeed);
  for ([[maybe_unused]] auto _ : state) {
    const auto detector = kind.make({});
    for (const auto& point : points) detector->add(point);
    benchmark::DoNotOptimize(detector->estimate());
  }
}

// Mean over an endless trace behind the settled part, so that what happens now and then is in it.
void one_sample(benchmark::State& state) {
  const auto [kind, shape] = case_of(state);
  const auto settling = make_trace(shape, kSettled, kRate, kSeed);
  auto more = make_trace(shape, Seconds(1000 * 1.3), kRate, kSeed + 1);
  const auto detector = kind.make({});
  for (const auto& point : settling) detector->add(point);
  // Whole iterations, so that every round joins the one before in phase.
  const Seconds round(1000 * 1.3);
  Seconds offset(std::ceil(kSettled.value() / 1.3) * 1.3);
  std::size_t next = 0;
  for ([[maybe_unused]] auto _ : state) {
    progress::TelemetryPoint point = more[next];
    point.at = point.at + offset;
    detector->add(point);
    if (++next == more.size()) {
      next = 0;
      offset += round;
    }
  }
}

BENCHMARK(whole_trace)->Apply(every_case)->Unit(benchmark::kMillisecond);
BENCHMARK(one_sample)->Apply(every_case)->Unit(benchmark::kMicrosecond);

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-') return run_files(std::vector<std::string>(argv + 1, argv + argc));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
