// MF-GPOEO's controller (pid.h): the loss of one window in, the next gear out.
#pragma once

#include <cstddef>
#include <vector>

namespace rubato::govern {

struct GearPidOptions {
  double kp = 2.8;
  double ki = 0.002;
  double kd = 0.9;
  double limit = 0.047;  // the loss it steers to
  double bound = 0.05;   // its thresholds in points of loss are for 5 % and shrink and grow with it
  /// As published: `isDoubling == false;` compares where it should assign, so a raised gain stays raised.
  bool gain_stays_raised = false;
};

class GearPid {
 public:
  /// Gears are counted from 0.
  GearPid(GearPidOptions options, std::size_t gears) : options_(options), gears_(gears) {}

  [[nodiscard]] std::size_t next(std::size_t gear, double loss);

  /// Share of kp at the step just made.
  [[nodiscard]] double schedule() const { return schedule_; }

 private:
  [[nodiscard]] double scheduled(double error);
  [[nodiscard]] double delta(double error);

  struct Step {
    std::size_t gear = 0;
    double loss = 0;
  };
  GearPidOptions options_;
  std::size_t gears_;
  std::vector<Step> steps_;
  double sum_ = 0;
  double previous_error_ = 0;
  double raised_ = 1;
  double schedule_ = 1;
};

}  // namespace rubato::govern
