// One training takes another's place in mid-run: how long a strategy takes to notice and to settle again,
// beside what it takes when it meets the second one afresh, and for how long it stays over the bound without
// having saved the time for it.
//
//     rubato-lab-shifts STRATEGY [SUITE [ITERATIONS_AFTER]]
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "govern/registry.h"
#include "lab/replay.h"
#include "lab/suites.h"

namespace {

using namespace rubato;

constexpr double kBound = 0.05;
constexpr double kAllowed = 1.05;  // of the iterations of a fresh start

struct AfterChange {
  std::optional<std::int64_t> noticed;  // iterations since the change
  std::optional<std::int64_t> settled;
  std::int64_t longest_over = 0;    // iterations in a row at settings that the second job makes too slow
  std::int64_t longest_unpaid = 0;  // of them, while the run so far is over its bound
};

/// Passes everything on, and remembers what was decided after the change.
class Watched final : public govern::Strategy {
 public:
  Watched(govern::Strategy& inner, const lab::Job& job, std::int64_t change)
      : inner_(inner), job_(job), change_(change), phase_(job) {}

  [[nodiscard]] std::string_view name() const override { return inner_.name(); }
  [[nodiscard]] govern::Decision next(const govern::Observation& seen) override {
    govern::Decision decision = inner_.next(seen);
    program_ = phase_.next();
    if (decision.action == govern::Action::use_found) lost_ = 0;
    if (decision.action == govern::Action::use_setting) lost_ = slowdown(decision.setting);
    if (decision.action == govern::Action::wait) lost_ = slowdown(seen.in_force);
    const double iteration = job_.programs[program_].iteration.value();
    base_ += iteration;
    used_ += iteration * (1 + lost_);
    if (seen.iterations < change_) return decision;
    const bool searching = decision.role == BlockRole::baseline || decision.role == BlockRole::trial;
    if (!found_.noticed && searching) found_.noticed = seen.iterations - change_;
    if (found_.noticed && !found_.settled && decision.role == BlockRole::hold)
      found_.settled = seen.iterations - change_;
    const bool over = lost_ > kBound;
    over_ = over ? over_ + 1 : 0;
    unpaid_ = over && used_ > (1 + kBound) * base_ ? unpaid_ + 1 : 0;
    found_.longest_over = std::max(found_.longest_over, over_);
    found_.longest_unpaid = std::max(found_.longest_unpaid, unpaid_);
    return decision;
  }

  [[nodiscard]] const AfterChange& found() const { return found_; }

 private:
  double slowdown(const Setting& setting) const {
    if (setting.empty()) return 0;
    predict::KnobPoint at{.power_limit = setting.power_limit, .sm_clock = {}, .memory_clock = {}};
    if (setting.sm_clock) at.sm_clock = setting.sm_clock->max;
    if (setting.memory_clock) at.memory_clock = setting.memory_clock->max;
    const plan::Position position = plan::position_of(job_.space, at);
    std::size_t index = 0;
    for (std::size_t a = 0; a < position.size(); ++a)
      index = index * job_.space.axes[a].values.size() + position[a];
    return job_.programs[program_].time[index] - 1;
  }

  govern::Strategy& inner_;
  const lab::Job& job_;
  std::int64_t change_;
  lab::PhaseCursor phase_;
  std::size_t program_ = 0;
  double lost_ = 0;  // of this iteration's time
  double base_ = 0;  // s so far, at the found setting
  double used_ = 0;  // and as it went
  std::int64_t over_ = 0;
  std::int64_t unpaid_ = 0;
  AfterChange found_;
};

struct Outcome {
  AfterChange after;
  lab::Replayed run;
};

Result<Outcome> run(const std::string& name, const lab::Job& job, std::int64_t change, std::int64_t after,
                    std::uint64_t seed = 1) {
  govern::StrategyRequest request;
  request.goal.max_slowdown = kBound;
  request.goal.host_watts = Watts(0);
  request.space = job.space;
  request.seed = seed;
  const auto strategy = govern::make_strategy(name, request);
  if (!strategy) return fail(strategy.error());
  Watched watched(**strategy, job, change);
  const std::int64_t iterations = change + after;
  const lab::Draw disturbance = lab::draw({}, job.name, seed, iterations, job.programs.front().iteration);
  const lab::Replayed run = lab::replay(job, lab::CostTable(job), disturbance, watched, iterations, Watts(0));
  return Outcome{watched.found(), run};
}

lab::Job second_alone(const lab::Job& job) {
  lab::Job out = job;
  out.programs = {job.programs[job.phases.back().program]};
  out.phases.clear();
  return out;
}

std::string median(std::vector<double> values, int digits) {
  if (values.empty()) return "-";
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return number(*middle, digits);
}

int refuse(const Error& error) {
  std::cerr << error.what << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: rubato-lab-shifts STRATEGY [SUITE [ITERATIONS_AFTER]]\n";
    return 1;
  }
  const std::int64_t after = argc > 3 ? std::atoll(argv[3]) : 4000;
  const auto jobs = lab::suite_named(argc > 2 ? argv[2] : "shift-pairs");
  if (!jobs) return refuse(jobs.error());
  int pairs = 0;
  int noticed = 0;
  int in_time = 0;
  int fresh_in_time = 0;
  int broken = 0;
  std::int64_t longest_over = 0;
  std::int64_t longest_unpaid = 0;
  double worst_so_far = 0;
  std::vector<double> until_noticed;
  std::vector<double> ratios;
  for (const lab::Job& job : *jobs) {
    if (job.phases.size() != 2) continue;
    ++pairs;
    const auto pair = run(argv[1], job, job.phases.front().iterations, after);
    if (!pair) return refuse(pair.error());
    const auto fresh = run(argv[1], second_alone(job), 0, after);
    if (!fresh) return refuse(fresh.error());
    const auto other = run(argv[1], second_alone(job), 0, after, 2);
    if (!other) return refuse(other.error());
    if (fresh->run.settled_after && other->run.settled_after)
      fresh_in_time += static_cast<double>(*other->run.settled_after) <=
                       kAllowed * static_cast<double>(*fresh->run.settled_after);
    broken += pair->run.slowdown > kBound + 1e-9;
    worst_so_far = std::max(worst_so_far, pair->run.worst_running_slowdown.value_or(0));
    longest_over = std::max(longest_over, pair->after.longest_over);
    longest_unpaid = std::max(longest_unpaid, pair->after.longest_unpaid);
    if (!pair->after.noticed) continue;
    ++noticed;
    until_noticed.push_back(static_cast<double>(*pair->after.noticed));
    if (!pair->after.settled || !fresh->run.settled_after || *fresh->run.settled_after == 0) continue;
    const auto again = static_cast<double>(*pair->after.settled - *pair->after.noticed);
    ratios.push_back(again / static_cast<double>(*fresh->run.settled_after));
    in_time += ratios.back() <= kAllowed;
  }
  std::cout << cat(argv[1], ": ", pairs, " pairs; noticed ", noticed, ", after ", median(until_noticed, 0),
                   " iterations (median); settled again in ", median(ratios, 2),
                   " of the iterations of a fresh start (median), within ", number(kAllowed, 2),
                   " of them in ", in_time, " (a fresh start with another seed: in ", fresh_in_time,
                   "); longest in a row at settings over the bound ", longest_over,
                   " iterations, while the run so far was over it ", longest_unpaid,
                   "; whole runs over the bound ", broken, ", worst so far ", number(worst_so_far * 100, 2),
                   " %\n");
  return 0;
}
