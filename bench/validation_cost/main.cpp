// rubato-validation-cost TABLE [MODEL...]: a full validation over the power limit (or, where the table has
// none, the SM clock) at 0 and 2 probes on two threads, as a share of the 10 s that it may take.
#include <chrono>
#include <cstdio>
#include <ctime>

#include "core/sweep_table_csv.h"
#include "experiment/validation.h"

namespace {

constexpr double kLimitS = 10;

int give_up(const rubato::Error& error) {
  std::fprintf(stderr, "%s\n", error.what.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace rubato;
  if (argc < 2) {
    std::fprintf(stderr, "usage: rubato-validation-cost TABLE [MODEL...]\n");
    return 125;
  }
  const auto table = read_sweep_table(argv[1]);
  if (!table) return give_up(table.error());
  std::vector<Knob> knobs = {Knob::power_limit};
  auto curves = predict::curves_of(*table, knobs);
  if (!curves) {
    knobs = {Knob::sm_clock};
    curves = predict::curves_of(*table, knobs);
  }
  if (!curves) return give_up(curves.error());
  std::vector<std::string_view> models(argv + 2, argv + argc);
  if (models.empty()) models = predict::learner_names();
  std::printf("%zu workloads\n%-14s %6s %8s %8s %16s\n", curves->size(), "model", "probes", "wall, s",
              "CPU, s", "CPU / 2 / 10 s");
  for (const std::string_view name : models)
    for (const std::size_t probes : {0U, 2U}) {
      const auto learner = predict::find_learner(name);
      if (!learner) return give_up(learner.error());
      const auto begin = std::chrono::steady_clock::now();
      const std::clock_t cpu_begin = std::clock();
      const auto found = experiment::validate(*curves, curves->size(),
                                              {.learner = *learner, .knobs = knobs, .probes = probes});
      const double cpu = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
      const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
      if (!found) {
        std::printf("%-14.*s refuses: %s\n", static_cast<int>(name.size()), name.data(),
                    found.error().what.c_str());
        break;
      }
      std::printf("%-14.*s %6zu %8.2f %8.2f %16.3f\n", static_cast<int>(name.size()), name.data(), probes,
                  wall.count(), cpu, cpu / 2 / kLimitS);
    }
  return 0;
}
