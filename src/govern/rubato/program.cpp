#include "govern/rubato/program.h"

#include <algorithm>
#include <cmath>

namespace rubato::govern {
namespace {

constexpr Seconds kFirstLooks{60};  // of a variant, at settings that are known

}  // namespace

void Program::add(std::size_t setting, const StretchMean& mean) {
  history_.believe();
  history_.add(setting, mean, era);
  latest_ = mean;
  latest_at_ = setting;
  if (setting == belief_.found()) at_found_ = mean;
}

void Program::fit() {
  belief_.fit(history_.rows());
  history_.drifts(belief_.drift());
  for (std::size_t i = 0; i < last_known_.size(); ++i)
    if (history_.measured(i)) last_known_[i] = Known{belief_.log_time(i), belief_.log_time_deviation(i)};
}

void Program::ran_not(std::size_t setting, Seconds time) {
  ran(setting, Seconds(0) - std::min(time, Seconds(seconds_[setting])));
}

Program Program::variant(int its_era) const {
  Program out = *this;
  out.history_.inherit();
  std::fill(out.seconds_.begin(), out.seconds_.end(), 0.0);
  out.ran_ = Seconds(0);
  out.settled_ = {};
  out.left.reset();
  out.away = Seconds(0);
  out.next_check = out.next_confirm = kFirstLooks;
  out.inherited_before_ = out.era = its_era;
  return out;
}

void Program::forget_inherited() {
  history_.forget_before(*inherited_before_);
  inherited_before_.reset();
}

Watts Program::board() const {
  return Watts(std::exp(baseline_.log_power));
}

Seconds Program::unit() const {
  return Seconds(std::exp(baseline_.log_time));
}

Program::Departure Program::departure(std::size_t setting, const StretchMean& mean) const {
  const std::size_t before = latest_at_.value_or(belief_.found());
  const double now = history_.time_error(mean.work);
  const double then = history_.time_error(latest_.work);
  const double noise = std::sqrt(now * now + then * then);
  double error = noise;
  if (setting != before)
    error += std::max(belief_.log_energy_deviation(setting), belief_.log_energy_deviation(before));
  return {
      .time = mean.log_time - latest_.log_time - (belief_.log_time(setting) - belief_.log_time(before)),
      .power = mean.log_power - latest_.log_power - (belief_.log_power(setting) - belief_.log_power(before)),
      .error = error,
      .noise = noise};
}

Program::Departure Program::departure_from_found(std::size_t setting, const StretchMean& mean) const {
  const double now = history_.time_error(mean.work);
  const double then = history_.time_error(at_found_.work);
  const double noise = std::hypot(now, then);
  return {.time = mean.log_time - at_found_.log_time - belief_.log_time(setting),
          .power = mean.log_power - at_found_.log_power - belief_.log_power(setting),
          .error = std::hypot(noise, belief_.log_energy_deviation(setting)),
          .noise = noise};
}

void Program::settle() {
  settled_ = slowdown(Errors::as_one);
  std::fill(seconds_.begin(), seconds_.end(), 0.0);
}

// Of settings that the history tells of no more it is not known how far their errors are one.
Program::Slowdown Program::slowdown(Errors errors) const {
  Slowdown out = settled_;
  std::vector<double> at_found_seconds(seconds_.size(), 0.0);
  for (std::size_t i = 0; i < seconds_.size(); ++i) {
    if (seconds_[i] <= 0) continue;
    const Known known = last_known_[i].value_or(Known{belief_.log_time(i), belief_.log_time_deviation(i)});
    const double at_found = seconds_[i] / std::exp(known.log_time);
    out.seconds += at_found;
    out.lost += seconds_[i] - at_found;
    if (errors == Errors::as_one || (last_known_[i] && !history_.measured(i)))
      out.lost_error += at_found * known.deviation;
    else
      at_found_seconds[i] = at_found;
  }
  out.lost_error += belief_.log_time_deviation(at_found_seconds);
  return out;
}

}  // namespace rubato::govern
