#include "govern/layer_plan/same_job.h"

#include <cmath>

#include "base/text.h"

namespace rubato::govern {
namespace {

// Of the parameters: biases and scales that one framework's version of a network has and another's has not.
// Keras' ResNet50 has 0.1 % more than PyTorch's; the next ResNet in the family has 70 % more.
constexpr double kSameModel = 0.01;

bool single_precision(Precision precision) {
  return precision == Precision::fp32 || precision == Precision::tf32;
}

bool same(Precision one, Precision other) {
  return one == other || (single_precision(one) && single_precision(other));
}

}  // namespace

std::string another_job(const plan::LayerPlan& plan, const TrainedModel& job) {
  const std::string who = job.name.empty() ? "the job" : cat("the job (", job.name, ")");
  const std::string whose = cat(", and the plan is for ", plan.network, " ");
  if (plan.only)
    return cat(who, " trains, and the plan is for the ", name_of(*plan.only), " pass of ", plan.network,
               " alone");
  if (plan.parameters && job.parameters &&
      std::abs(*plan.parameters - *job.parameters) > kSameModel * *plan.parameters)
    return cat(who, " trains ", number(*job.parameters, 0), " parameters", whose, "with ",
               number(*plan.parameters, 0), ": another model");
  if (job.batch && plan.batch > 0 && *job.batch != plan.batch)
    return cat(who, " trains batches of ", *job.batch, whose, "at batch ", plan.batch);
  if (job.precision && !same(*job.precision, plan.precision))
    return cat(who, " computes in ", name_of(*job.precision), whose, "in ", name_of(plan.precision));
  return {};
}

std::string in_words(const TrainedModel& job) {
  std::string out;
  const auto add = [&out](std::string_view words) { out += cat(out.empty() ? "" : ", ", words); };
  if (job.parameters) add(cat(number(*job.parameters, 0), " parameters"));
  if (job.batch) add(cat("batch ", *job.batch));
  if (job.precision) add(name_of(*job.precision));
  return out;
}

}  // namespace rubato::govern
