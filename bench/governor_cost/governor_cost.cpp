// What the governor costs a run: each call timed by itself, while it holds a setting and whenever it decides,
// against the 3 us an observation and the 5 ms a decision may take.
//
//     rubato-governor-cost TABLE [ITERATIONS]
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/sweep_table_csv.h"
#include "govern/registry.h"
#include "lab/cost_table.h"
#include "lab/noise.h"
#include "lab/replay.h"
#include "lab/truth.h"

namespace {

using namespace rubato;

constexpr double kObservation = 3;  // us
constexpr double kDecision = 5000;

double microseconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

struct Call {
  double wall = 0;  // us, by a clock that costs little itself
  double cpu = 0;   // us of this thread's, which neighbours do not lengthen
};

class Timed final : public govern::Strategy {
 public:
  explicit Timed(std::unique_ptr<govern::Strategy> inner) : inner_(std::move(inner)) {}

  std::string_view name() const override { return inner_->name(); }
  govern::Decision next(const govern::Observation& o) override {
    const double cpu = microseconds(CLOCK_THREAD_CPUTIME_ID);
    const double wall = microseconds(CLOCK_MONOTONIC);
    govern::Decision decision = inner_->next(o);
    const Call call{microseconds(CLOCK_MONOTONIC) - wall, microseconds(CLOCK_THREAD_CPUTIME_ID) - cpu};
    all.push_back(call);
    if (holding_ && decision.role == BlockRole::hold) held.push_back(call);
    holding_ = decision.role == BlockRole::hold;
    return decision;
  }

  std::vector<Call> all;
  std::vector<Call> held;

 private:
  std::unique_ptr<govern::Strategy> inner_;
  bool holding_ = false;
};

double quantile(const std::vector<Call>& calls, double Call::*of, double share) {
  std::vector<double> sorted;
  sorted.reserve(calls.size());
  for (const Call& call : calls) sorted.push_back(call.*of);
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
  return sorted[static_cast<std::size_t>(at)];
}

double mean(const std::vector<Call>& calls) {
  double sum = 0;
  for (const Call& call : calls) sum += call.cpu;
  return sum / static_cast<double>(calls.size());
}

int refuse(const Error& error) {
  std::cerr << error.what << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: rubato-governor-cost TABLE [ITERATIONS]\n";
    return 1;
  }
  const auto table = read_sweep_table(argv[1]);
  if (!table) return refuse(table.error());
  const auto jobs = lab::jobs_of(*table, {});
  if (!jobs) return refuse(jobs.error());
  const std::int64_t iterations = argc > 2 ? std::atoll(argv[2]) : 4000;

  std::vector<Call> all;
  std::vector<Call> held;
  for (const lab::Job& job : *jobs) {
    govern::StrategyRequest request;
    request.goal.host_watts = Watts(0);
    request.space = job.space;
    auto strategy = govern::make_strategy("rubato", request);
    if (!strategy) return refuse(strategy.error());
    Timed timed(std::move(*strategy));
    static_cast<void>(lab::replay(job, lab::CostTable(job),
                                  lab::draw({}, job.name, 1, iterations, job.programs.front().iteration),
                                  timed, iterations, Watts(0)));
    all.insert(all.end(), timed.all.begin(), timed.all.end());
    held.insert(held.end(), timed.held.begin(), timed.held.end());
  }
  if (held.empty()) return refuse({ErrorCode::unavailable, "nothing was held in so short a run", ""});
  const double observation = quantile(held, &Call::wall, 0.5);
  const double slow = quantile(held, &Call::wall, 0.9);
  const double decision = quantile(all, &Call::cpu, 1);
  const auto longer = std::count_if(all.begin(), all.end(), [](const Call& c) { return c.cpu > kDecision; });
  std::cout << cat(
      jobs->size(), " jobs of ", iterations, " iterations\n", "while a setting is held, us a call: median ",
      number(observation, 3), ", nine of ten below ", number(slow, 3), "; of the ", number(kObservation, 0),
      " an observation may take: ", number(slow / kObservation, 3), "\n",
      "with all that is decided meanwhile, on average: ", number(mean(held), 3), "\n",
      "the longest call, us of processor time: ", number(decision, 0), "; of the ", number(kDecision, 0),
      " a decision may take: ", number(decision / kDecision, 3), "; calls of a run that take more: ",
      number(static_cast<double>(longer) / static_cast<double>(jobs->size()), 2), "\n");
  return 0;
}
