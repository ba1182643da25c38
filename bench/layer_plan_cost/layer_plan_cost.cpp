// What planning 10,000 segments at 100 settings costs by each strategy. `of_limit` is the processor's time
// over the second it may take; `gap` what the plan may still lie above the least energy, as a share.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>

#include "base/random.h"
#include "plan/layers/iteration.h"
#include "plan/layers/price_search.h"
#include "plan/layers/strategies.h"

namespace {

using namespace rubato;

constexpr double kLimitSeconds = 1;
constexpr std::size_t kSegments = 10'000;
constexpr int kSmClocks = 20;
constexpr int kMemoryClocks = 5;

/// Made up, but of the form layers have: blocks of similar intensity, 2 s in all, time by the longer of
/// compute and memory, power by both clocks.
plan::SegmentTable table() {
  plan::SegmentTable out;
  for (int m = 1; m <= kMemoryClocks; ++m)
    for (int s = 1; s <= kSmClocks; ++s)
      out.settings.push_back({Megahertz(1400.0 * s / kSmClocks), Megahertz(7000.0 * m / kMemoryClocks)});
  out.at_default = out.settings.size() - 1;
  Random random(5);
  double block = 0;
  for (std::size_t i = 0; i < kSegments; ++i) {
    if (i % 500 == 0) block = random.uniform(-1.5, 1.5);
    const double share = 1 / (1 + std::exp(block + 0.3 * random.normal()));
    const double length = 2.0 / kSegments * random.uniform(0.2, 1.8);
    const auto pass = i < kSegments / 3 ? LayerPass::forward : LayerPass::backward;
    out.segments.push_back({std::to_string(i), pass, share, 0.5});
    for (const predict::Clocks& at : out.settings) {
      const double sm = at.sm.value() / 1400;
      const double memory = at.memory.value() / 7000;
      const double time = length * std::max({share / sm, (1 - share) / memory, 0.5});
      const double busy = length / time;
      const double power = 20 + 15 * memory + busy * (90 * share * sm * sm + 30 * (1 - share));
      out.costs.push_back({Seconds(time), Joules(power * time)});
    }
  }
  return out;
}

enum class Delays { none, same, by_target, by_pair };

plan::Switching switching(std::size_t settings, Delays kind) {
  plan::Switching out{.delay = {}, .stall = {}, .stalled = 40_W, .dwell = 0_s};
  if (kind == Delays::none) return out;
  Random random(6);
  std::vector<double> of_target;
  for (std::size_t b = 0; b < settings; ++b) of_target.push_back(random.uniform(0.015, 0.045));
  for (std::size_t a = 0; a < settings; ++a)
    for (std::size_t b = 0; b < settings; ++b)
      out.delay.emplace_back(kind == Delays::same        ? 0.03
                             : kind == Delays::by_target ? of_target[b]
                                                         : of_target[b] * random.uniform(0.9, 1.1));
  out.dwell = 50_ms;
  return out;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void plan_with(benchmark::State& state, const std::string& strategy, Delays kind) {
  const plan::SegmentTable segments = table();
  const plan::Switching times = switching(segments.settings.size(), kind);
  const plan::LayerGoal goal{.max_slowdown = 0.05, .host = 0_W};
  const auto* found = plan::find_layer_strategy(strategy).value();
  const double begin = processor_seconds();
  for ([[maybe_unused]] auto _ : state) {
    auto plan = found->plan(segments, times, goal);
    benchmark::DoNotOptimize(plan);
    if (!plan) continue;
    state.counters["changes"] = plan->changes;
    const auto single = plan::uniform_cost(segments, plan::best_single(segments, goal));
    state.counters["energy_of_single"] = plan->energy / single.energy;
  }
  state.counters["of_limit"] =
      (processor_seconds() - begin) / static_cast<double>(state.iterations()) / kLimitSeconds;
  if (strategy != "phase") return;
  const auto answer =
      plan::search_by_price(segments, times, goal, std::vector<bool>(segments.segments.size(), true),
                            plan::best_single(segments, goal));
  state.counters["gap"] = (answer.joules - answer.bound) / answer.joules;
}

}  // namespace

BENCHMARK_CAPTURE(plan_with, phase_switching_free, "phase", Delays::none)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_with, phase_one_delay, "phase", Delays::same)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_with, phase_delay_by_target, "phase", Delays::by_target)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_with, phase_delay_by_pair, "phase", Delays::by_pair)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_with, pass_one_delay, "pass", Delays::same)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_with, exhaustive_one_delay, "exhaustive", Delays::same)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_with, single, "single", Delays::same)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
