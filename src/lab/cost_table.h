// What one iteration of a job costs at every setting, in seconds and joules of all its boards: worked out
// once, looked up once per iteration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/job.h"
#include "lab/noise.h"

namespace rubato::lab {

struct IterationCost {
  double time = 0;    // s
  double energy = 0;  // J
};

class CostTable {
 public:
  explicit CostTable(const Job& job);

  [[nodiscard]] const IterationCost& at(std::size_t program, std::size_t setting) const {
    return costs_[program * settings_ + setting];
  }
  [[nodiscard]] std::size_t settings() const { return settings_; }
  [[nodiscard]] std::size_t programs() const { return costs_.size() / settings_; }

 private:
  std::size_t settings_;
  std::vector<IterationCost> costs_;  // by program, then setting
};

/// Which program an iteration belongs to, asked in order.
class PhaseCursor {
 public:
  explicit PhaseCursor(const Job& job) : job_(&job) {
    if (!job.phases.empty()) left_ = job.phases.front().iterations;
  }
  [[nodiscard]] std::size_t next() {
    if (job_->phases.empty()) return 0;
    while (left_ == 0) {
      at_ = (at_ + 1) % job_->phases.size();
      left_ = job_->phases[at_].iterations;
    }
    --left_;
    return job_->phases[at_].program;
  }

 private:
  const Job* job_;
  std::size_t at_ = 0;
  std::int64_t left_ = 0;
};

/// What a whole run costs at one setting from beginning to end.
struct RunCost {
  double time = 0;    // s
  double energy = 0;  // J, with what the host draws meanwhile where it counts
};

/// For every setting, under one draw.
[[nodiscard]] std::vector<RunCost> fixed_runs(const Job& job, const CostTable& costs, const Draw& draw,
                                              std::int64_t iterations, Watts host);

}  // namespace rubato::lab
