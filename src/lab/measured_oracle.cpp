#include "lab/measured_oracle.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lab/phase_oracle.h"
#include "plan/setting_of.h"

namespace rubato::lab {
namespace {

using govern::Action;
using govern::Decision;

// Of the lengths of a baseline that are weighed, each is longer than the one before by one in so many.
constexpr std::int64_t kLonger = 20;

class MeasuredOracle final : public govern::Strategy {
 public:
  MeasuredOracle(const Job& job, std::int64_t baseline, const ProgramShare& share)
      : baseline_(baseline),
        share_(share),
        at_found_{Action::use_found, {}, BlockRole::baseline, "a baseline at the found setting", {}},
        faster_(at(job, share.faster)),
        slower_(at(job, share.slower)) {}
  [[nodiscard]] std::string_view name() const override { return kMeasuredOracle; }

  [[nodiscard]] Decision next(const govern::Observation& seen) override {
    if (seen.iterations < baseline_) return at_found_;
    owed_ += share_.part;
    if (owed_ < 1) return faster_;
    owed_ -= 1;
    return slower_;
  }

 private:
  static Decision at(const Job& job, std::size_t setting) {
    const bool found = setting == job.found;
    return {found ? Action::use_found : Action::use_setting,
            found ? Setting{} : plan::setting_of(job.grid[setting]),
            BlockRole::hold,
            "the best setting the baseline vouches for, known beforehand",
            {}};
  }

  std::int64_t baseline_;
  ProgramShare share_;
  Decision at_found_;
  Decision faster_;
  Decision slower_;
  double owed_ = 0;  // iterations at the slower
};

}  // namespace

double slowdown_vouched_for(std::int64_t baseline, std::int64_t iterations, double noise,
                            double max_slowdown) {
  const std::int64_t others = iterations - baseline;
  if (baseline <= 0 || others <= 0) return 0;
  const auto n = static_cast<double>(baseline);
  const auto m = static_cast<double>(others);
  const double margin = kStandardErrors * noise * std::sqrt(1 / n + 1 / m);
  // Of the whole run, max_slowdown: part (x + margin (1 + x)), with x the slowdown of the others.
  const double of_others = max_slowdown * static_cast<double>(iterations) / m;
  return std::max(0.0, (of_others - margin) / (1 + margin));
}

Result<std::unique_ptr<govern::Strategy>> make_measured_oracle(const Job& job, const CostTable& costs,
                                                               const Draw& draw, std::int64_t iterations,
                                                               double noise, double max_slowdown,
                                                               Watts host) {
  if (job.programs.size() != 1)
    return fail(ErrorCode::invalid_argument, "it plans for one program, and this job has several");
  // Sums from each iteration to the end.
  const auto n = static_cast<std::size_t>(iterations);
  std::vector<RunCost> rest(n + 1);
  for (std::size_t i = n; i > 0; --i) {
    const double time = draw.own_time.empty() ? 1.0 : draw.own_time[i - 1];
    const double power = draw.own_power.empty() ? 1.0 : draw.own_power[i - 1];
    rest[i - 1] = {rest[i].time + time, rest[i].energy + time * power};
  }
  const IterationCost& found = costs.at(0, job.found);
  const auto joules = [&](std::size_t setting, const RunCost& work) {
    const IterationCost& cost = costs.at(0, setting);
    return cost.energy * work.energy + host.value() * cost.time * work.time;
  };
  std::int64_t best = 0;
  ProgramShare best_share{job.found, job.found, 0};
  double most = 0;
  for (std::int64_t baseline = 1; baseline < iterations; baseline += 1 + baseline / kLonger) {
    const RunCost& work = rest[static_cast<std::size_t>(baseline)];
    const double lose =
        slowdown_vouched_for(baseline, iterations, noise, max_slowdown) * work.time * found.time;
    const ProgramShare share = share_out(costs, job.found, std::array{work}, lose, host).front();
    const double saved = joules(job.found, work) - (1 - share.part) * joules(share.faster, work) -
                         share.part * joules(share.slower, work);
    if (saved <= most) continue;
    most = saved;
    best = baseline;
    best_share = share;
  }
  return std::make_unique<MeasuredOracle>(job, best, best_share);
}

}  // namespace rubato::lab
