#include "govern/reference/mf_gpoeo.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"

namespace rubato::govern {
namespace {

constexpr std::size_t kMostSteps = 5;
constexpr std::size_t kAgreeing = 3;
constexpr double kToDrawn = 0.85;
constexpr double kLowGear = 0.6;
constexpr double kLastOver = 1.05;  // of the limit
// Between 0.20 and 0.55 in the source, by a rule that is not known.
constexpr double kMeanError = 0.35;
constexpr std::size_t kWidest = 8;
constexpr std::size_t kSame = 3;

// How much an older baseline still counts, by how far the new one lies from it. The source goes from 0.8 to
// 0.2; 4 % is where it calls a baseline off.
double decay(double drift) {
  if (drift <= 0.01) return 0.8;
  return drift <= 0.04 ? 0.5 : 0.2;
}

Cost merged(const Cost& old, const Cost& fresh) {
  const double kept = decay(std::abs(fresh.time / old.time - 1)) * old.work;
  const double share = kept / (kept + fresh.work);
  return {.work = kept + fresh.work,
          .time = old.time * share + fresh.time * (1 - share),
          .energy = *old.energy * share + *fresh.energy * (1 - share)};
}

std::size_t span_of(std::span<const ControlStep> steps) {
  const auto ends = std::minmax_element(steps.begin(), steps.end(),
                                        [](const auto& a, const auto& b) { return a.gear < b.gear; });
  return ends.second->gear - ends.first->gear;
}

// The least reward among the latest feasible ones; none: the highest of the latest gears.
std::size_t final_choice(std::span<const ControlStep> steps) {
  const auto recent = steps.last(std::min(steps.size(), kAgreeing));
  std::vector<Score> scores;
  for (const ControlStep& step : recent) scores.push_back(step.score);
  if (const auto best = best_of(scores)) return recent[*best].gear;
  return std::max_element(recent.begin(), recent.end(),
                          [](const auto& a, const auto& b) { return a.gear < b.gear; })
      ->gear;
}

// Those whose losses agree, weighted by how near they came to the limit; nothing: they do not.
std::optional<std::size_t> agreed(std::span<const ControlStep> last, double limit) {
  std::vector<ControlStep> kept(last.begin(), last.end());
  const auto error = [&](const ControlStep& step) { return step.score.loss / limit - 1; };
  const auto worst = std::max_element(kept.begin(), kept.end(), [&](const auto& a, const auto& b) {
    return std::abs(error(a)) < std::abs(error(b));
  });
  kept.erase(worst);  // one outlier
  double mean = 0;
  double mean_size = 0;
  double weights = 0;
  double gears = 0;
  for (const ControlStep& step : kept) {
    mean += error(step) / static_cast<double>(kept.size());
    mean_size += std::abs(error(step)) / static_cast<double>(kept.size());
    const double weight =
        1 / std::sqrt(std::max(std::abs(error(step)), 1e-3)) * (step.score.feasible ? 1 : 0.25);
    weights += weight;
    gears += weight * static_cast<double>(step.gear);
  }
  if (mean > 0 || mean_size > kMeanError || error(last.back()) > kLastOver - 1 || span_of(kept) > kWidest)
    return std::nullopt;
  return static_cast<std::size_t>(std::lround(gears / weights));
}

}  // namespace

std::optional<std::size_t> settled_gear(std::span<const ControlStep> steps, std::size_t wanted,
                                        std::size_t below, std::size_t gears, double limit) {
  if (steps.size() >= kMostSteps || wanted == steps.back().gear) return final_choice(steps);
  if (steps.size() < kAgreeing) return std::nullopt;
  const auto last = steps.last(kAgreeing);
  if (span_of(last) <= kSame && last.back().score.feasible) return final_choice(steps);
  const bool low = std::all_of(last.begin(), last.end(), [&](const ControlStep& step) {
    return step.score.feasible &&
           static_cast<double>(step.gear + below) < kLowGear * static_cast<double>(gears + below);
  });
  if (low) return final_choice(steps);
  return agreed(last, limit);
}

MfGpoeo::MfGpoeo(MfGpoeoOptions options, Gears gears, const Aim& aim)
    : options_(options), gears_(std::move(gears)), aim_(aim) {
  options_.pid.bound = aim_.bound;
  options_.pid.limit = std::max(aim_.bound - options_.below_bound, aim_.bound / 2);
  if (gears_.knob() == Knob::power_limit)
    below_ = static_cast<std::size_t>(
        std::lround(gears_.value(0) / (gears_.value(gears_.top()) - gears_.value(0)) *
                    static_cast<double>(gears_.top())));
}

std::size_t MfGpoeo::start_gear(Watts drawn) const {
  const auto whole = std::lround(static_cast<double>(gears_.top() + below_) * options_.start);
  const std::size_t start = std::max(static_cast<std::size_t>(whole), below_) - below_;
  std::size_t highest = gears_.found();
  if (gears_.knob() == Knob::power_limit) {
    const std::size_t drawn_gear = std::min(highest, gears_.nearest(drawn.value()));
    highest -= static_cast<std::size_t>(std::lround(static_cast<double>(highest - drawn_gear) * kToDrawn));
  }
  return std::min(start, highest);
}

SearchStep MfGpoeo::next(std::span<const TrialResult> seen) {
  GearPid pid(options_.pid, gears_.count() + below_);
  Cost base = seen[0].cost;
  std::vector<ControlStep> steps;
  std::size_t gear = start_gear(*base.energy / base.time);
  std::size_t baseline_due = 2;  // control steps; then every five
  for (std::size_t i = 1;;) {
    if (steps.size() == baseline_due) {
      if (i == seen.size())
        return gears_.measure(gears_.found(), options_.baseline, "mf-gpoeo: the baseline once more");
      base = merged(base, seen[i++].cost);
      baseline_due += 5;
    }
    if (i == seen.size())
      return gears_.measure(gear, options_.control,
                            cat("mf-gpoeo: control step ", steps.size() + 1, ", ", gears_.text(gear)));
    steps.push_back({gear, Scale(aim_, base).of(seen[i++].cost)});
    const std::size_t wanted = std::max(pid.next(gear + below_, steps.back().score.loss), below_) - below_;
    if (const auto end = settled_gear(steps, wanted, below_, gears_.count(), options_.pid.limit)) {
      held_.clear();
      far_.clear();
      quiet_ = 0;
      return gears_.hold(*end, cat("mf-gpoeo: gears agree after ", steps.size(), " control steps"));
    }
    gear = wanted;
  }
}

// Of the five features of the source's distance only the power is at hand; it had two that a lock keeps
// still.
bool MfGpoeo::again(const Cost& held) {
  const double power = (*held.energy / held.time).value();
  if (held_.size() < 3) {
    held_.push_back(power);
    return false;
  }
  const double usual = std::accumulate(held_.begin(), held_.end(), 0.0) / static_cast<double>(held_.size());
  const bool far = std::abs(power - usual) / (power + usual) > options_.unstable;
  far_.push_back(far);
  if (far_.size() > 5) far_.pop_front();
  quiet_ = far ? 0 : quiet_ + 1;
  return std::count(far_.begin(), far_.end(), true) >= 3;
}

TrialLength MfGpoeo::watch() const {
  const double windows = quiet_ == 0 ? 0 : std::min(8.0, static_cast<double>(1 << std::min(quiet_ - 1, 3)));
  return {.settle = options_.control.time * windows, .time = options_.control.time};
}

}  // namespace rubato::govern
