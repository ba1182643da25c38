// rubato-shift-rate [--seed S] [--hours N] [--runs N] [--jobs N]: false alarms an hour where nothing changes,
// and delays where something does. Makes docs/evidence/shifts.md; seeds below 100000 are for development.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "shift_rate/page.h"

int main(int argc, char** argv) {
  rubato::shift_rate::Plan plan;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    const bool known = flag == "--seed" || flag == "--hours" || flag == "--runs" || flag == "--jobs";
    if (!known || i + 1 == argc) {
      std::fprintf(stderr, "usage: rubato-shift-rate [--seed S] [--hours N] [--runs N] [--jobs N]\n");
      return 125;
    }
    const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (flag == "--seed") plan.seed = value;
    if (flag == "--hours") plan.hours = static_cast<unsigned>(value);
    if (flag == "--jobs") plan.jobs = static_cast<unsigned>(value);
    if (flag == "--runs") plan.runs = static_cast<unsigned>(value);
  }
  rubato::shift_rate::print_page(plan);
  return 0;
}
