// Prints what rubato counts on every chip that one libcupti knows, which needs no GPU: a line per metric
//   CHIP <tab> FEATURE or quantity's number <tab> METRIC [<tab> METRIC]
// or CHIP <tab> - <tab> why it counts nothing; then the features of each chip as CHIP <tab> = <tab>
// FEATURE...
#include <cstdio>
#include <string>

#include "feature/cupti/host.h"
#include "feature/cupti/library.h"

using namespace rubato;
using namespace rubato::feature::cupti;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto api = open_cupti_file(argv[1]);
  if (!api) {
    std::fprintf(stderr, "%s\n", api.error().what.c_str());
    return 1;
  }
  const auto chips = supported_chips(*api);
  if (!chips) {
    std::fprintf(stderr, "%s\n", chips.error().what.c_str());
    return 1;
  }
  for (const std::string& chip : *chips) {
    const auto plan = make_plan(*api, chip, {});
    if (!plan) {
      std::printf("%s\t-\t%s\n", chip.c_str(), plan.error().what.c_str());
      continue;
    }
    for (const Counted& one : plan->counted) {
      std::printf("%s\t%zu\t%s", chip.c_str(), static_cast<std::size_t>(one.quantity), one.way.metric);
      if (one.way.second != nullptr) std::printf("\t%s", one.way.second);
      std::printf("\n");
    }
    std::printf("%s\t=", chip.c_str());
    for (const Feature f : features_of(plan->counted))
      std::printf("\t%s", std::string(kFeatureNames[static_cast<std::size_t>(f)]).c_str());
    std::printf("\n");
  }
  return 0;
}
