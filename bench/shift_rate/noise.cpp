#include "shift_rate/noise.h"

#include <algorithm>
#include <cmath>

namespace rubato::shift_rate {

Job::Job(const Family& family, Random random, std::optional<Change> change)
    : family_(family), random_(random), change_(change) {
  period_s_ = std::exp(random_.uniform(std::log(0.1), std::log(3)));
  power_w_ = family.quantised ? random_.uniform(60, 100) : random_.uniform(100, 600);
  utilisation_ = random_.uniform(0.3, 0.95);
  drift_seconds_ = random_.uniform(200, 400);
}

double Job::tailed() {
  if (family_.tail == 0) return random_.normal();
  double squares = 0;
  for (int i = 0; i < family_.tail; ++i) {
    const double n = random_.normal();
    squares += n * n;
  }
  return random_.normal() / std::sqrt(squares / family_.tail);
}

double Job::draw(Noise& noise, double length_s) {
  const double r = family_.correlation;
  noise.state = noise.begun ? r * noise.state + std::sqrt(1 - r * r) * tailed() : random_.normal();
  noise.begun = true;
  const double spread = family_.irregular ? family_.spread / std::sqrt(length_s) : family_.spread;
  return 1 + spread * noise.state;
}

double Job::factor(Changed what, double begin_s, double end_s) const {
  if (!change_ || change_->what != what || end_s <= change_->at_s) return 1;
  const double share = std::min(1.0, (end_s - change_->at_s) / (end_s - begin_s));
  return 1 + share * change_->size;
}

progress::ShiftReading Job::next() {
  const double length = family_.irregular ? std::exp(random_.uniform(std::log(0.2), std::log(5)))
                                          : family_.reading_seconds * random_.uniform(0.98, 1.02);
  const double begin = now_s_;
  now_s_ += length;
  double period = period_s_ * draw(noise_[0], length) * factor(Changed::period, begin, now_s_);
  double power = power_w_ * draw(noise_[1], length) * factor(Changed::power, begin, now_s_);
  double utilisation = utilisation_ * draw(noise_[2], length);
  period *= std::exp(family_.period_jitter * random_.normal());
  power *= 1 + family_.drift * (1 - std::exp(-now_s_ / drift_seconds_));
  if (random_.uniform() < family_.outliers) {
    // A stall: longer, with less drawn and less done meanwhile; or a late reading.
    const double by = random_.uniform(1.2, 5);
    if (random_.uniform() < 0.5) {
      period *= by;
      power /= by;
      utilisation /= by;
    } else {
      power *= random_.uniform() < 0.5 ? by : 1 / by;
    }
  }
  if (family_.quantised) {
    period = std::max(0.01, std::round(period * 100) / 100);
    power = std::round(power);
    utilisation = std::round(utilisation * 100) / 100;
  }
  progress::ShiftReading reading;
  reading.begin = TimePoint{} + Seconds(begin);
  reading.end = TimePoint{} + Seconds(now_s_);
  reading.period = Seconds(std::max(1e-3, period));
  reading.power = Watts(std::max(0.0, power));
  reading.sm_utilisation = std::clamp(utilisation, 0.0, 1.0);
  return reading;
}

}  // namespace rubato::shift_rate
