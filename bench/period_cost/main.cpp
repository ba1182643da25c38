// What finding the period costs: whole traces, and one more sample of a trace long decided on. With files it
// runs the detectors over them instead (files.h).
#include <benchmark/benchmark.h>

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

void whole_trace(benchmark::State& state, const progress::DetectorKind& kind, Shape shape) {
  const auto points = make_trace(shape, kWhole, kRate, kSeed);
  for (auto _ : state) {
    const auto detector = kind.make({});
    for (const auto& point : points) detector->add(point);
    benchmark::DoNotOptimize(detector->estimate());
  }
}

// Mean over an endless trace behind the settled part, so that what happens now and then is in it.
void one_sample(benchmark::State& state, const progress::DetectorKind& kind, Shape shape) {
  const auto settling = make_trace(shape, kSettled, kRate, kSeed);
  auto more = make_trace(shape, Seconds(1000 * 1.3), kRate, kSeed + 1);
  const auto detector = kind.make({});
  for (const auto& point : settling) detector->add(point);
  // Whole iterations, so that every round joins the one before in phase.
  const Seconds round(1000 * 1.3);
  Seconds offset(std::ceil(kSettled.value() / 1.3) * 1.3);
  std::size_t next = 0;
  for (auto _ : state) {
    progress::TelemetryPoint point = more[next];
    point.at = point.at + offset;
    detector->add(point);
    if (++next == more.size()) {
      next = 0;
      offset += round;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-') return run_files(std::vector<std::string>(argv + 1, argv + argc));
  for (const auto& kind : progress::detectors()) {
    for (const auto& [name, shape] : {std::pair{"plain", Shape::plain}, std::pair{"nested", Shape::nested},
                                      std::pair{"aperiodic", Shape::aperiodic}}) {
      benchmark::RegisterBenchmark(cat(kind.name, "/60 s at 20 Hz/", name).c_str(), whole_trace, kind, shape)
          ->Unit(benchmark::kMillisecond);
      benchmark::RegisterBenchmark(cat(kind.name, "/one sample/", name).c_str(), one_sample, kind, shape)
          ->Unit(benchmark::kMicrosecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
