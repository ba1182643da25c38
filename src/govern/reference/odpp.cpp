#include "govern/reference/odpp.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"

namespace rubato::govern {
namespace {

// NumPy's rounding, half to even, gives the published 690 and 1680 MHz.
std::size_t rounded(double gear) {
  return static_cast<std::size_t>(std::nearbyint(gear));
}

double line(const std::map<std::size_t, double>& through, std::size_t gear) {
  const auto right = through.lower_bound(gear);
  if (right->first == gear) return right->second;
  const auto left = std::prev(right);
  const double share =
      static_cast<double>(gear - left->first) / static_cast<double>(right->first - left->first);
  return left->second + share * (right->second - left->second);
}

}  // namespace

std::vector<std::size_t> odpp_samples(std::size_t lowest, std::size_t top) {
  const auto span = static_cast<double>(top - lowest);
  std::vector<std::size_t> out;
  out.reserve(7);
  for (int i = 0; i < 4; ++i) out.push_back(lowest + rounded(span * i / 3));
  for (std::size_t i = 0; i < 3; ++i) out.push_back(rounded(static_cast<double>(out[i] + out[i + 1]) / 2));
  std::vector<std::size_t> distinct;  // where there are fewer than seven gears
  for (const std::size_t gear : out)
    if (std::find(distinct.begin(), distinct.end(), gear) == distinct.end()) distinct.push_back(gear);
  return distinct;
}

Odpp::Odpp(OdppOptions options, Gears gears, const Aim& aim)
    : options_(options),
      gears_(std::move(gears)),
      aim_(aim),
      samples_(odpp_samples(lowest_gear_searched(gears_), gears_.top())),
      spread_(options.spread) {}

SearchStep Odpp::next(std::span<const TrialResult> seen) {
  const std::size_t done = seen.size() - 1;
  if (done < samples_.size())
    return gears_.measure(
        samples_[done], options_.length,
        cat("odpp: sample ", done + 1, " of ", samples_.size(), ", ", gears_.text(samples_[done])));
  period_ = seen[0].cost.time;
  std::map<std::size_t, double> times;
  std::map<std::size_t, double> energies;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    times[samples_[i]] = seen[i + 1].cost.time.value();
    energies[samples_[i]] = seen[i + 1].cost.energy->value();
  }
  const Scale scale(aim_, seen[0].cost);
  const std::size_t lowest = times.begin()->first;
  std::vector<Score> scores;
  for (std::size_t gear = lowest; gear <= gears_.top(); ++gear) {
    const double time = line(times, gear);
    scores.push_back(scale.of(Seconds(time), Joules(line(energies, gear))));
    if (options_.seconds_as_ratio) scores.back().feasible = time - 1 <= aim_.bound;
  }
  const auto best = best_of(scores);
  spread_.restart();
  return gears_.hold(best ? lowest + *best : gears_.top(), "odpp: the best gear of the corrected models");
}

bool Odpp::again(const Cost& held) {
  return spread_.broken(spread_.look(*held.energy / held.time + std::min(aim_.beside, Watts(0))));
}

TrialLength Odpp::watch() const {
  return {.settle = period_ * spread_.sleep(), .time = period_ + 1_s};
}

}  // namespace rubato::govern
