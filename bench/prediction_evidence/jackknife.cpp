#include "prediction_evidence/jackknife.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace rubato::prediction_evidence {
namespace {

using experiment::Validation;

template <class Of>
double error_of(const std::vector<Validation>& parts, Of of) {
  const auto n = static_cast<double>(parts.size());
  double mean = 0;
  for (const Validation& part : parts) mean += of(part) / n;
  double square = 0;
  for (const Validation& part : parts) square += (of(part) - mean) * (of(part) - mean);
  return std::sqrt(square * (n - 1) / n);
}

}  // namespace

Neighbours standard_errors(const Validation& found) {
  std::set<std::string> groups;
  for (const auto& workload : found.judged) groups.insert(workload.group);
  if (groups.size() < 2) return {};
  std::vector<Validation> parts;
  for (const std::string& group : groups) {
    Validation part;
    for (const auto& workload : found.judged)
      if (workload.group != group) part.judged.push_back(workload);
    experiment::summarise(part);
    parts.push_back(std::move(part));
  }
  return {error_of(parts, [](const Validation& v) { return v.errors.time.value_or(0); }),
          error_of(parts, [](const Validation& v) { return v.errors.energy.value_or(0); }),
          error_of(parts, [](const Validation& v) { return v.energy_regret; }),
          error_of(parts, [](const Validation& v) { return v.at_bound.captured.value_or(0); })};
}

}  // namespace rubato::prediction_evidence
