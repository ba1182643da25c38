#include "experiment/evidence_plan.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace rubato::experiment {
namespace {

// Compute, memory, and between the two: what a limit or a clock costs differs most between these.
constexpr std::array<std::string_view, 3> kKernels = {"fp32", "bandwidth", "mixed-15"};

// What govern's SweepStrategy waits for: 250 sensor updates at each step, and what drains before it. A unit
// of work is about a tenth of a second at the highest clocks, and several times as long at the lowest.
constexpr double kUpdates = 250;
constexpr std::int64_t kUnits = 12;
constexpr Seconds kUnit{0.35};
constexpr Seconds kDrain{1};
// Until the temperature is steady: a cold board takes longer than one that has just worked.
constexpr Seconds kColdStart{100};
constexpr Seconds kWarmStart{45};
constexpr Seconds kStart{5};  // of a process, its guard and its driver

constexpr Seconds kHold{4};
constexpr Seconds kMeanJitter{0.25};
constexpr Seconds kSwitchWarmup{15};
// Savings of training at little slowdown were found around this fraction of the usual limit or clock.
constexpr double kOther = 0.75;

struct Rung {
  unsigned per_knob, repeats, blocks, cycles;
  std::size_t kernels;
};
// From rich to poor. Repeats stay as long as they can: without them nothing tells an effect from chance.
constexpr std::array<Rung, 12> kLadder = {{{8, 3, 4, 16, 3},
                                           {6, 3, 4, 12, 3},
                                           {6, 2, 3, 12, 3},
                                           {5, 2, 3, 10, 3},
                                           {4, 2, 3, 10, 3},
                                           {4, 2, 2, 8, 3},
                                           {3, 2, 2, 6, 3},
                                           {3, 2, 2, 6, 2},
                                           {3, 2, 2, 6, 1},
                                           {3, 1, 2, 6, 1},
                                           {3, 1, 1, 4, 1},
                                           {3, 1, 1, 3, 1}}};

/// Of one knob, the point nearest to kOther of `from`.
const predict::KnobPoint* nearest(const std::vector<predict::KnobPoint>& points, bool limit, double from) {
  const predict::KnobPoint* best = nullptr;
  double least = 0;
  for (const predict::KnobPoint& p : points) {
    if (limit ? !p.power_limit : !p.sm_clock) continue;
    const double off = std::abs((limit ? p.power_limit->value() : p.sm_clock->value()) - kOther * from);
    if (best == nullptr || off < least) {
      best = &p;
      least = off;
    }
  }
  return best;
}

/// What the `k`th kernel goes through. Another order for each: what drifts over the half hour must not look
/// like a knob's effect.
void walk(const EvidencePlan& plan, EvidenceRun& run, std::size_t k, std::uint64_t seed) {
  run.sweep = sweep_schedule(plan.points.size(), {SweepOrder::random, plan.repeats, 4, seed + k});
  run.steps.clear();
  for (const SweepStep& s : run.sweep)
    run.steps.push_back(s.point ? plan.points[*s.point] : predict::KnobPoint{});
  for (unsigned b = 0; k == 0 && b < plan.blocks; ++b)
    for (const bool other : {false, true, true, false})
      run.steps.push_back(other ? plan.other : predict::KnobPoint{});
}

EvidencePlan plan_at(const Rung& rung, const KnobRanges& ranges, std::vector<predict::KnobPoint> points,
                     Seconds period, std::uint64_t seed) {
  EvidencePlan plan;
  plan.points = std::move(points);
  plan.repeats = rung.repeats;
  plan.iterations = kUnits;
  plan.blocks = rung.blocks;
  if (ranges.limits)
    if (const auto* at = nearest(plan.points, true, ranges.limits->requested.value()))
      plan.switches.targets.push_back(*at);
  if (!ranges.sm.empty())
    if (const auto* at = nearest(plan.points, false, ranges.sm.back().value()))
      plan.switches.targets.push_back(*at);
  plan.other = plan.switches.targets.front();

  const Seconds step = std::max(period * kUpdates, kUnit * static_cast<double>(kUnits)) + kDrain;
  for (std::size_t k = 0; k < rung.kernels; ++k) {
    EvidenceRun run;
    run.kernel = kKernels[k];
    walk(plan, run, k, seed);
    run.length = kStart + (k == 0 ? kColdStart : kWarmStart) + step * static_cast<double>(run.steps.size());
    plan.runs.push_back(std::move(run));
  }
  plan.switches.kernel = kKernels.front();
  plan.switches.cycles = rung.cycles;
  plan.switches.hold = kHold;
  const double each = 2.0 * rung.cycles * static_cast<double>(plan.switches.targets.size());
  plan.switches.length = kStart + kSwitchWarmup + kHold + (kHold + kMeanJitter) * each;
  return plan;
}

}  // namespace

Seconds EvidencePlan::length() const {
  Seconds sum = switches.length;
  for (const EvidenceRun& run : runs) sum += run.length;
  return sum;
}

Result<EvidencePlan> plan_evidence(const KnobRanges& ranges, Seconds sensor_period, Seconds budget,
                                   std::uint64_t seed) {
  const std::vector<Knob> knobs = usual_knobs(ranges);
  Seconds least;
  for (const Rung& rung : kLadder) {
    const auto points = calibration_settings(knobs, ranges, rung.per_knob);
    if (!points) return fail(points.error());
    if (points->empty())
      return fail(ErrorCode::not_supported, "neither the power limit nor the SM clock can be set here",
                  "rubato devices says why");
    EvidencePlan plan = plan_at(rung, ranges, *points, sensor_period, seed);
    if (plan.length() <= budget) return plan;
    least = plan.length();
  }
  return fail(
      ErrorCode::invalid_argument,
      cat(number(budget.value() / 60, 1), " minutes are too few: this GPU's sensor is refreshed every ",
          sensor_period, ", and the least takes ", number(std::ceil(least.value() / 6) / 10, 1)),
      cat("--minutes ", number(std::ceil(least.value() / 60), 0)));
}

void drop_clocks(EvidencePlan& plan, std::uint64_t seed) {
  const auto clock = [](const predict::KnobPoint& at) { return at.sm_clock.has_value(); };
  std::erase_if(plan.points, clock);
  std::erase_if(plan.switches.targets, clock);
  for (std::size_t k = 0; k < plan.runs.size(); ++k) walk(plan, plan.runs[k], k, seed);
}

}  // namespace rubato::experiment
