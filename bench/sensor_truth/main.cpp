// rubato-sensor-truth --data DIR [--runs N] [--seed S]: how often the truth lies inside the error bands, over
// simulated runs of every published kind of power sensor. Makes the tables of docs/sensors.md.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sensor_truth/summary.h"

int main(int argc, char** argv) {
  using namespace rubato::truth;
  std::string data;
  std::uint64_t runs = 10000;
  std::uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--data") data = argv[i + 1];
    if (flag == "--runs") runs = std::strtoull(argv[i + 1], nullptr, 10);
    if (flag == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  const Table table = read_table(data);
  if (table.boards.empty()) {
    std::fprintf(stderr,
                 "rubato-sensor-truth: no sensor table in '%s'\nusage: rubato-sensor-truth --data DIR "
                 "[--runs N] [--seed S]\n",
                 data.c_str());
    return 125;
  }
  print_page(table, run_trials(table, seed, runs), seed);
  return 0;
}
