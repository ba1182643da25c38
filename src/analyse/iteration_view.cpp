#include "analyse/iteration_view.h"

#include <array>

namespace rubato::analyse {
namespace {

bool another(const IterationEstimate& a, const IterationEstimate& b) {
  return a.source != b.source || a.periodic != b.periodic || a.relation != b.relation;
}

}  // namespace

std::optional<IterationView> iteration_view(const record::RunRecord& run) {
  if (run.statements.empty() && run.rates.empty()) return std::nullopt;
  IterationView view;
  std::array<const record::IterationStatement*, 3> latest{};
  for (const record::IterationStatement& statement : run.statements) {
    latest[static_cast<std::size_t>(statement.estimate.source)] = &statement;
    if (!statement.used) continue;
    view.in_use = statement;
    if (statement.estimate.periodic && !view.found) view.found = statement.estimate.at;
    if (view.course.empty() || another(view.course.back().estimate, statement.estimate))
      view.course.push_back(statement);
  }
  for (const record::IterationStatement* statement : latest)
    if (statement != nullptr && !(view.in_use && statement->estimate.source == view.in_use->estimate.source))
      view.others.push_back(*statement);
  if (!(view.in_use && view.in_use->estimate.periodic) && !run.rates.empty()) view.rate = run.rates.back();
  return view;
}

std::optional<record::Decision> tuning_over(const record::RunRecord& run) {
  std::optional<record::Decision> over;
  for (const record::Decision& decision : run.decisions) {
    if (decision.action == "tuning_over") over = decision;
    if (decision.action == "tuning") over.reset();
  }
  return over;
}

}  // namespace rubato::analyse
