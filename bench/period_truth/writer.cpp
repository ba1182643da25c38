#include "period_truth/writer.h"

#include <cmath>

namespace rubato::period_truth {

Writer::Writer(Program& program, std::vector<std::pair<double, double>> speeds)
    : program_(program), speeds_(std::move(speeds)) {}

double Writer::speed() const {
  double speed = 1;
  for (const auto& [from, value] : speeds_)
    if (from <= program_.end_s) speed = value;
  return speed;
}

void Writer::work(const Piece& piece, double factor) {
  const double clock = speed();
  // Dynamic power goes with f V^2: near f^2.4 where the voltage follows the clock; memory's part stays.
  const double power = piece.compute_share * std::pow(clock, 2.4) + 1 - piece.compute_share;
  const double seconds = piece.seconds * factor * (piece.compute_share / clock + 1 - piece.compute_share);
  program_.stretches.push_back({seconds, piece.level * power, piece.busy, piece.memory, clock});
  program_.end_s += seconds;
}

void Writer::wait(double seconds, double level) {
  program_.stretches.push_back({seconds, level, 0, 0, speed()});
  program_.end_s += seconds;
}

void Writer::begin_step() {
  step_ = {now(), now(), 0};
}

void Writer::stall(double seconds, double level) {
  wait(seconds, level);
  step_.lost_s += seconds;
}

void Writer::end_step() {
  step_.end_s = now();
  program_.steps.push_back(step_);
}

}  // namespace rubato::period_truth
