// rubato-prediction-evidence --data DIR: makes docs/evidence/prediction.md from the measured tables in
// DIR/tables.
#include <cstdio>
#include <string_view>

#include "prediction_evidence/page.h"

int main(int argc, char** argv) {
  namespace evidence = rubato::prediction_evidence;
  if (argc != 3 || std::string_view(argv[1]) != "--data") {
    std::fprintf(stderr, "usage: rubato-prediction-evidence --data DIR\n");
    return 125;
  }
  const std::filesystem::path tables = std::filesystem::path(argv[2]) / "tables";
  const auto all =
      [&](const std::vector<evidence::Case>& cases) -> rubato::Result<std::vector<evidence::Outcome>> {
    std::vector<evidence::Outcome> out;
    for (const evidence::Case& one : cases) {
      std::fprintf(stderr, "%.*s, probes: %zu\n", static_cast<int>(one.name.size()), one.name.data(),
                   one.probes);
      auto outcome = evidence::judge(one, tables);
      if (!outcome) return rubato::fail(outcome.error());
      out.push_back(std::move(*outcome));
    }
    return out;
  };
  const auto asked = all(evidence::asked_cases());
  const auto told = asked ? all(evidence::told_cases()) : asked;
  if (!told) {
    std::fprintf(stderr, "%s\n", told.error().what.c_str());
    return 1;
  }
  evidence::print_page(*asked, *told);
  return 0;
}
