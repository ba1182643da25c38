#include <algorithm>
#include <array>

#include "base/text.h"
#include "predict/combined/combined.h"
#include "predict/mean_curve.h"
#include "predict/model.h"
#include "predict/physical/physical.h"
#include "predict/shared_curve/shared_curve.h"
#include "predict/trees/gpoeo.h"
#include "predict/trees/trees.h"

namespace rubato::predict {
namespace {

// The default first.
constexpr std::array kLearners = {&combined_learner,     &physical::physical_learner, &shared_curve_learner,
                                  &trees::trees_learner, &trees::gpoeo_learner,       &mean_curve_learner};

}  // namespace

std::vector<std::string_view> learner_names() {
  std::vector<std::string_view> names;
  names.reserve(kLearners.size());
  for (const auto learner : kLearners) names.push_back(learner().name());
  return names;
}

Result<const Learner*> find_learner(std::string_view name) {
  std::string known;
  for (const auto learner : kLearners) {
    if (learner().name() == name) return &learner();
    known += cat(known.empty() ? "" : ", ", learner().name());
  }
  return fail(ErrorCode::invalid_argument, cat("there is no model '", name, "'"), cat("there are: ", known));
}

}  // namespace rubato::predict
