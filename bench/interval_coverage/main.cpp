// The table of docs/numbers.md: how often the 90 % interval of a mean holds the truth where neighbouring
// batches resemble each other, and how wide it is beside the one that would be right if the correlation were
// known.
#include <cstdio>

#include "made_batches.h"

int main() {
  using rubato::analyse::testing_data::intervals;
  constexpr int kRuns = 20'000;
  std::printf("%-14s%-22s%-22s%-22s\n", "correlation", "6: holds, width", "12", "30");
  for (const double r : {0.0, 0.3, 0.5, 0.7}) {
    std::printf("%-14.1f", r);
    for (const int n : {6, 12, 30}) {
      const auto [coverage, width] = intervals(n, r, kRuns);
      std::printf("%4.0f %%, %-14.2f", 100 * coverage, width);
    }
    std::printf("\n");
  }
}
