#include "sim_facts/page.h"

#include <cmath>
#include <cstdio>

namespace rubato::facts {

void print_section(const std::string& heading, const std::string& about, const std::vector<Row>& rows) {
  std::printf("\n### %s\n", heading.c_str());
  if (!about.empty()) std::printf("\n%s\n", about.c_str());
  std::printf("\n| | measured | simulated | agreement |\n|---|---|---|---|\n");
  for (const Row& row : rows)
    std::printf("| %s | %s | %s | %s |\n", row.what.c_str(), row.measured.c_str(), row.simulated.c_str(),
                row.agreement.c_str());
}

std::string judged(bool agrees, const std::string& rule) {
  return std::string(agrees ? "yes" : "**no**") + " (" + rule + ")";
}

std::string within(double simulated, double measured, double tolerance, const std::string& unit_text) {
  return judged(std::abs(simulated - measured) <= tolerance, "within " + unit_text);
}

}  // namespace rubato::facts
