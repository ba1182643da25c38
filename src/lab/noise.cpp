#include "lab/noise.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/fnv1a.h"
#include "base/random.h"
#include "base/text.h"

namespace rubato::lab {
namespace {

struct Named {
  NoiseModel model;
  std::string_view name;
};
constexpr std::array kModels = {Named{NoiseModel::iid, "iid"}, Named{NoiseModel::drift, "drift"},
                                Named{NoiseModel::heavy_tail, "heavy-tail"},
                                Named{NoiseModel::steps, "steps"}};

// docs/lab.md says where these come from; none was tuned to a strategy.
constexpr double kDriftDeviation = 0.005;  // of time and of power, once it has forgotten its beginning
constexpr Seconds kDriftMemory{180};       // the correlation falls to 1/e
constexpr double kColdTime = 0.02;         // slower at the start: caches, loaders, autotuning
constexpr double kColdPower = -0.04;       // a cold chip leaks less
constexpr Seconds kWarmup{120};            // both fade by 1/e
constexpr Seconds kBetweenSteps{600};      // mean of an exponential
constexpr double kStepTime = 0.03;         // standard deviation of a level's logarithm
constexpr double kStepPower = 0.02;
// The median distance from 0 is 0.6745 of a normal, 0.7649 of Student's t with 3 degrees of freedom.
constexpr double kSameMedian = 0.6745 / 0.7649;
constexpr double kFurthest = 0.5;          // an iteration is never seen as less than half of what it was
constexpr double kStallShare = 1.0 / 500;  // of iterations
constexpr double kShortestStall = 0.2;     // of an iteration
constexpr double kLongestStall = 2.0;
constexpr double kPowerInStall = 0.4;  // of the iteration's own: clocks stay up, nothing computes

void observe_normal(Draw& out, double level, Random& random) {
  for (std::size_t i = 0; i < out.seen_time.size(); ++i) {
    out.seen_time[i] = static_cast<float>(1 + std::max(level * random.normal(), -kFurthest));
    out.seen_power[i] = static_cast<float>(1 + std::max(level * random.normal(), -kFurthest));
  }
}

double student3(Random& random) {
  double squares = 0;
  for (int i = 0; i < 3; ++i) {
    const double z = random.normal();
    squares += z * z;
  }
  return random.normal() / std::sqrt(squares / 3);
}

void observe_heavy(Draw& out, double level, Random& random) {
  const double scale = level * kSameMedian;
  for (std::size_t i = 0; i < out.seen_time.size(); ++i) {
    double time = 1 + std::max(scale * student3(random), -kFurthest);
    double power = 1 + std::max(scale * student3(random), -kFurthest);
    if (random.uniform() < kStallShare) {
      const double stall = kShortestStall * std::pow(kLongestStall / kShortestStall, random.uniform());
      power *= (time + kPowerInStall * stall) / (time + stall);
      time += stall;
    }
    out.seen_time[i] = static_cast<float>(time);
    out.seen_power[i] = static_cast<float>(power);
  }
}

void drift(Draw& out, Seconds iteration, Random& random) {
  const double keep = std::exp(-(iteration / kDriftMemory));
  const double fresh = kDriftDeviation * std::sqrt(1 - keep * keep);
  double time = kDriftDeviation * random.normal();
  double power = kDriftDeviation * random.normal();
  for (std::size_t i = 0; i < out.own_time.size(); ++i) {
    const double cold = std::exp(-(static_cast<double>(i) * (iteration / kWarmup)));
    out.own_time[i] = static_cast<float>((1 + time) * (1 + kColdTime * cold));
    out.own_power[i] = static_cast<float>((1 + power) * (1 + kColdPower * cold));
    time = keep * time + fresh * random.normal();
    power = keep * power + fresh * random.normal();
  }
}

void steps(Draw& out, Seconds iteration, Random& random) {
  double time = 1;
  double power = 1;
  double next = 0;
  const auto wait = [&] { return -std::log(1 - random.uniform()) * (kBetweenSteps / iteration); };
  next = wait();
  for (std::size_t i = 0; i < out.own_time.size(); ++i) {
    if (static_cast<double>(i) >= next) {
      time = std::exp(kStepTime * random.normal());
      power = std::exp(kStepPower * random.normal());
      next += wait();
    }
    out.own_time[i] = static_cast<float>(time);
    out.own_power[i] = static_cast<float>(power);
  }
}

}  // namespace

std::string_view name_of(NoiseModel model) {
  for (const Named& one : kModels)
    if (one.model == model) return one.name;
  return "iid";
}

Result<NoiseModel> parse_noise_model(std::string_view name) {
  std::string known;
  for (const Named& one : kModels) {
    if (one.name == name) return one.model;
    known += cat(known.empty() ? "" : ", ", one.name);
  }
  return fail(ErrorCode::invalid_argument, cat("there is no noise model '", name, "'; there are: ", known));
}

Draw draw(const NoiseOptions& options, std::string_view job, std::uint64_t seed, std::int64_t iterations,
          Seconds iteration) {
  const auto n = static_cast<std::size_t>(iterations);
  Random root(fnv1a(job) ^ (seed * 0x9e3779b97f4a7c15ULL));
  Random own = root.fork(1);
  Random seen = root.fork(2);
  Draw out;
  out.seen_time.resize(n);
  out.seen_power.resize(n);
  if (options.model == NoiseModel::heavy_tail) {
    observe_heavy(out, options.level, seen);
  } else {
    observe_normal(out, options.level, seen);
  }
  if (options.model == NoiseModel::drift || options.model == NoiseModel::steps) {
    out.own_time.resize(n);
    out.own_power.resize(n);
    if (options.model == NoiseModel::drift) {
      drift(out, iteration, own);
    } else {
      steps(out, iteration, own);
    }
  }
  return out;
}

}  // namespace rubato::lab
