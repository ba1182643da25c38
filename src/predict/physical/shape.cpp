#include "predict/physical/shape.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace rubato::predict::physical {
namespace {

constexpr double kLowestClock = 0.12;   // of the highest: what a limiter can throttle to
constexpr double kKneeSoftness = 0.06;  // of the highest clock: width of the voltage's bend
constexpr std::size_t kGrid = 40;
// A default that its limit does not hold back draws what the workload draws; one it does hold back tells only
// that the workload would draw at least that. A few steps settle the first case and leave the second.
constexpr int kStepsToDefault = 3;
constexpr double kSame = 0.005;
constexpr double kStep = 0.02;  // of the differences; the parameters' spreads are ten times that or more

// Gauss-Hermite nodes and weights for a standard normal: phases of an iteration draw unlike power.
constexpr std::array kPhaseAt = {-2.8569700138728056, -1.3556261799742659, 0.0, 1.3556261799742659,
                                 2.8569700138728056};
constexpr std::array kPhaseShare = {0.011257411327720689, 0.2220759220056126, 0.5333333333333333,
                                    0.2220759220056126, 0.011257411327720689};

double share(double logit) {
  return 1 / (1 + std::exp(-logit));
}

double softplus(double x) {
  const double z = x / kKneeSoftness;
  if (z > 30) return x;
  return z < -30 ? 0 : kKneeSoftness * std::log1p(std::exp(z));
}

struct Rates {
  double time;
  double power;  // over that at the highest clocks
};

class Shape {
 public:
  explicit Shape(const Parameters& w)
      : compute_(share(w[compute_share])),
        fixed_(share(w[fixed_share])),
        static_(share(w[static_share])),
        memory_(share(w[memory_share]) * (1 - static_)),
        sm_(1 - static_ - memory_),
        coupled_(share(w[work_coupling])),
        knee_(share(w[voltage_knee])),
        floor_(0.4 + 0.6 * share(w[voltage_floor])),
        lowest_(std::pow(share(w[clock_floor]), 8)),
        exponent_(1 + std::exp(w[sharpness])),
        memory_wait_(std::pow(1 - compute_, exponent_)),
        compute_wait_(std::pow(compute_, exponent_)),
        unit_time_(std::pow(memory_wait_ + compute_wait_, 1 / exponent_)),
        knee_scale_((1 - floor_) / softplus(1 - knee_)) {}

  [[nodiscard]] Rates unlimited(double sm, double memory, double bandwidth) const {
    const double asked = std::clamp(sm, 0.02, 3.0);
    const double square = asked * asked;
    const double fourth = square * square;
    const double clock = std::sqrt(std::sqrt(std::sqrt((fourth * fourth + lowest_) / (1 + lowest_))));
    const double volt = floor_ + knee_scale_ * softplus(clock - knee_);
    const double supply = memory * bandwidth;
    const double waits =
        compute_wait_ * std::exp(-exponent_ * std::log(clock)) +
        (supply == 1 ? memory_wait_ : memory_wait_ * std::exp(-exponent_ * std::log(supply)));
    const double time = fixed_ + (1 - fixed_) * std::exp(std::log(waits) / exponent_) / unit_time_;
    const double power = static_ + memory_ * (0.5 * memory + 0.5 / time) +
                         sm_ * clock * volt * volt * (1 - coupled_ + coupled_ / (time * clock));
    return {time, power};
  }

 private:
  double compute_, fixed_, static_, memory_, sm_, coupled_, knee_, floor_, lowest_, exponent_;
  double memory_wait_, compute_wait_, unit_time_, knee_scale_;
};

/// Time and power over SM clocks at one memory clock, for finding the clock at which a power is reached.
class Throttle {
 public:
  Throttle(const Shape& shape, double memory) : memory_(memory) {
    for (std::size_t i = 0; i < kGrid; ++i) {
      const Rates r = shape.unlimited(std::exp(log_clock(static_cast<double>(i))), memory, 1);
      log_time_[i] = std::log(r.time);
      log_power_[i] = std::log(r.power);
    }
  }

  [[nodiscard]] double memory() const { return memory_; }

  struct Place {
    double position = 0;  // on the grid of clocks
    double time = 0;
    double power = 0;  // over that at the highest clocks
  };
  [[nodiscard]] Place at_clock(double sm) const {
    const double clock = std::clamp(sm, kLowestClock, 1.0);
    return at((1 - std::log(clock) / std::log(kLowestClock)) * (kGrid - 1));
  }
  /// Position where a power, as its logarithm over that at the highest clocks, is reached, or the nearest to
  /// it there is. `from`: where the one before was found; caps mostly come in order.
  [[nodiscard]] double position_of_power(double log_power, std::size_t& from) const {
    std::size_t i = log_power < log_power_[from] ? 0 : from;
    while (i + 2 < kGrid && log_power_[i + 1] <= log_power) ++i;
    from = i;
    const double rise = std::max(log_power_[i + 1] - log_power_[i], 1e-6);
    return static_cast<double>(i) + std::clamp((log_power - log_power_[i]) / rise, 0.0, 1.0);
  }
  [[nodiscard]] Place at(double position) const {
    return {position, std::exp(between(log_time_, position)), std::exp(between(log_power_, position))};
  }

 private:
  static double log_clock(double i) { return std::log(kLowestClock) * (1 - i / (kGrid - 1)); }
  static double between(const std::array<double, kGrid>& y, double position) {
    const auto i = std::min(static_cast<std::size_t>(std::max(position, 0.0)), kGrid - 2);
    const double part = position - static_cast<double>(i);
    return y[i] * (1 - part) + y[i + 1] * part;
  }

  double memory_;
  std::array<double, kGrid> log_time_{};
  std::array<double, kGrid> log_power_{};
};

/// What a cap leaves each phase of an iteration of one workload, whatever clock is asked for beside it. Most
/// caps leave most phases alone: a place is worked out when it holds.
struct Capped {
  double memory = 0;
  double cap = 0;
  std::array<double, kPhaseAt.size()> positions{};
  std::array<std::optional<Throttle::Place>, kPhaseAt.size()> phases{};
};

/// Places of the SM clocks that were asked for at one memory clock: the same few come with every limit.
class Clocks {
 public:
  [[nodiscard]] const Throttle::Place& at(const Throttle& throttle, double sm) {
    Slot& slot = slots_[std::bit_cast<std::uint64_t>(sm) * 0x9e3779b97f4a7c15U >> (64U - kBits)];
    if (slot.sm != sm || slot.memory != throttle.memory())
      slot = {.sm = sm, .memory = throttle.memory(), .place = throttle.at_clock(sm)};
    return slot.place;
  }

 private:
  static constexpr unsigned kBits = 8;
  struct Slot {
    double sm = 0;
    double memory = 0;
    Throttle::Place place;
  };
  std::array<Slot, std::size_t{1} << kBits> slots_;
};

/// One workload's shape, with what throttling needs kept for as long as only power's scale changes.
class Curve {
 public:
  explicit Curve(const Parameters& w) : shape_(w) {}

  [[nodiscard]] Eigen::VectorXd at(const Parameters& w, std::span<const Situation> situations) {
    const auto n = static_cast<Eigen::Index>(situations.size());
    Eigen::VectorXd out(2 * n);
    const double spread = std::exp(w[phase_spread]);
    std::array<double, kPhaseAt.size()> scales{};  // of each phase's power, logarithms
    std::array<double, kPhaseAt.size()> factors{};
    for (std::size_t j = 0; j < kPhaseAt.size(); ++j) {
      scales[j] = w[log_power] + spread * kPhaseAt[j] - spread * spread / 2;
      factors[j] = std::exp(scales[j]);
    }
    std::optional<Capped> capped;
    std::array<std::size_t, kPhaseAt.size()> reached{};  // on the grid of clocks, by the cap before
    Clocks clocks;
    for (Eigen::Index i = 0; i < n; ++i) {
      const Situation& here = situations[static_cast<std::size_t>(i)];
      if (!here.cap) {
        const Rates r = shape_.unlimited(here.sm, here.memory, here.bandwidth);
        out[i] = w[log_time] + std::log(r.time);
        out[n + i] = w[log_power] + std::log(r.power);
        continue;
      }
      const Throttle& throttle = throttled(here.memory);
      // Settings come limit by limit or clock by clock.
      if (!capped || capped->memory != here.memory || capped->cap != *here.cap) {
        if (capped && capped->memory != here.memory) reached = {};
        capped = Capped{here.memory, *here.cap, {}, {}};
        const double log_cap = std::log(*here.cap) + w[cap_margin];
        for (std::size_t j = 0; j < kPhaseAt.size(); ++j)
          capped->positions[j] = throttle.position_of_power(log_cap - scales[j], reached[j]);
      }
      const Throttle::Place& asked = clocks.at(throttle, here.sm);
      double time = 0;
      double energy = 0;
      for (std::size_t j = 0; j < kPhaseAt.size(); ++j) {
        const bool limited = capped->positions[j] < asked.position;
        if (limited && !capped->phases[j]) capped->phases[j] = throttle.at(capped->positions[j]);
        const Throttle::Place& held = limited ? *capped->phases[j] : asked;
        time += kPhaseShare[j] * held.time;
        energy += kPhaseShare[j] * held.time * held.power * factors[j];
      }
      out[i] = w[log_time] + std::log(time);
      out[n + i] = std::log(energy / time);
    }
    return out;
  }

 private:
  [[nodiscard]] const Throttle& throttled(double memory) {
    const auto found = std::find_if(throttles_.begin(), throttles_.end(),
                                    [&](const Throttle& t) { return t.memory() == memory; });
    if (found != throttles_.end()) return *found;
    return throttles_.emplace_back(shape_, memory);
  }

  Shape shape_;
  std::vector<Throttle> throttles_;  // one per memory clock
};

}  // namespace

Eigen::VectorXd responses(const Parameters& w, std::span<const Situation> at) {
  return Curve(w).at(w, at);
}

Eigen::VectorXd responses_brought(Parameters w, std::span<const Situation> at) {
  Curve curve(w);
  for (int step = 0; step < kStepsToDefault; ++step) {
    const double off = curve.at(w, at.last(1))[1];
    if (std::abs(off) < kSame) break;
    w[log_power] -= off;
  }
  return curve.at(w, at);
}

Slopes slopes(const Parameters& w, std::span<const Situation> at) {
  const auto n = static_cast<Eigen::Index>(at.size());
  Curve curve(w);
  Slopes out{.value = curve.at(w, at), .slope = Eigen::MatrixXd::Zero(2 * n, kParameters)};
  const bool capped = std::any_of(at.begin(), at.end(), [](const Situation& s) { return s.cap.has_value(); });
  out.slope.col(log_time).head(n).setOnes();
  for (Eigen::Index k = 1; k < kParameters; ++k) {
    const bool scales_power = k == log_power || k == phase_spread || k == cap_margin;
    if (!capped && scales_power) {
      if (k == log_power) out.slope.col(k).tail(n).setOnes();
      continue;
    }
    Parameters moved = w;
    moved[k] += kStep;
    out.slope.col(k) = ((scales_power ? curve.at(moved, at) : responses(moved, at)) - out.value) / kStep;
  }
  return out;
}

}  // namespace rubato::predict::physical
