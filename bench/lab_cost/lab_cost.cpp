// What the lab itself costs: the processor's time per iteration of a replay under a strategy that does
// nothing, and the time of a whole campaign over the 20 s it may take on one core.
//
//     rubato-lab-cost TABLE STRATEGY[,STRATEGY...] [ITERATIONS [SEEDS]]
#include <cstdlib>
#include <ctime>
#include <iostream>

#include "base/text.h"
#include "core/sweep_table_csv.h"
#include "lab/campaign.h"
#include "lab/truth.h"

namespace {

using namespace rubato;

constexpr double kLimitSeconds = 20;  // 68 workloads x 8 strategies x 4,000 iterations
constexpr double kLimitIterations = 68.0 * 8 * 4000;

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

int refuse(const Error& error) {
  std::cerr << error.what << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: rubato-lab-cost TABLE STRATEGY[,STRATEGY...] [ITERATIONS [SEEDS]]\n";
    return 1;
  }
  const auto table = read_sweep_table(argv[1]);
  if (!table) return refuse(table.error());
  const auto jobs = lab::jobs_of(*table, {});
  if (!jobs) return refuse(jobs.error());
  lab::CampaignOptions options;
  if (argc > 3) options.iterations = std::atoll(argv[3]);
  if (argc > 4) options.seeds = static_cast<std::uint64_t>(std::atoll(argv[4]));
  std::cout << "strategy  seconds  us_per_iteration  of_limit  captured  slowdown_max  broken  tries\n";
  for (const std::string& name : split(argv[2], ',')) {
    options.strategies = {name};
    const double before = processor_seconds();
    const auto found = lab::run_campaign(*jobs, options);
    const double spent = processor_seconds() - before;
    if (!found) return refuse(found.error());
    const double iterations =
        static_cast<double>(jobs->size() * options.seeds) * static_cast<double>(options.iterations);
    const lab::Score& s = found->front().score;
    std::cout << cat(name, "  ", number(spent, 3), "  ", number(spent / iterations * 1e6, 3), "  ",
                     number(spent / iterations * kLimitIterations / kLimitSeconds, 4), "  ",
                     number(s.captured.value_or(0), 3), "  ", number(s.slowdown_max, 4), "  ",
                     s.bound_violations, "  ", number(s.settings_tried, 2))
              << "\n";
  }
  return 0;
}
