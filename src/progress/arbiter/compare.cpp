#include "progress/arbiter/compare.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/text.h"

namespace rubato::progress {
namespace {

// A period is stated to hold within 2 %; two of them may be 4 % apart, more where they say so themselves.
constexpr double kStatedWithin = 0.02;
// Around a large whole number the tolerance covers every ratio there is: from here on nothing can be told.
constexpr double kTooVague = 0.2;

// Chance that two wrong sources agree. Marks know nothing of the GPU; kernels and power are two looks at one
// rhythm, so that what misleads one (a micro-batch, a data loader's cycle) often misleads the other.
constexpr double kAgreeByChance = 0.3;
constexpr double kAgreeByCommonCause = 0.6;
// No agreement makes a statement surer than this, and no check is trusted further than this.
constexpr double kSurest = 0.995;
constexpr double kTelemetryCheck = 0.9;
constexpr double kOtherCheck = 0.95;
// Kernels are recorded in cycles: an iteration longer than a cycle cannot show in them.
constexpr double kNoPeriodInKernels = 0.5;

double tolerance(const IterationEstimate& a, const IterationEstimate& b) {
  return std::max(a.half_width.value_or(0), kStatedWithin) +
         std::max(b.half_width.value_or(0), kStatedWithin);
}

std::string whole_part(ProgressSource used, ProgressSource other, double k) {
  if (used == ProgressSource::marks)
    return cat(number(k, 0),
               " of its periods lie between two marks: micro-batches, or a mark for several iterations");
  return other == ProgressSource::marks
             ? cat(number(k, 0), " marks in one iteration: marks on micro-batches or layers")
             : cat(number(k, 0), " of its periods are one iteration: micro-batches");
}

std::string whole_multiple(ProgressSource used, double k) {
  if (used == ProgressSource::marks)
    return cat("one of its periods holds ", number(k, 0),
               " marks: marks on parts of an iteration, or a slow sensor");
  return cat("one of its periods is ", number(k, 0), " iterations");
}

Comparison without_period(const IterationEstimate& used, const IterationEstimate& other) {
  Comparison c;
  c.check.source = other.source;
  if (!used.periodic && !other.periodic) {
    c.finding = Agreement::same;
    c.check.agrees = true;
    c.check.why = "it finds no period either";
  } else if (other.periodic) {
    c.finding = Agreement::contradicted;
    c.check.why = cat("it finds a period of ", *other.period);
  } else if (other.source == ProgressSource::kernels) {
    c.finding = Agreement::contradicted;
    c.check.why = "it finds no period in the kernels";
  } else {
    c.check.agrees = true;
    c.check.why = "it shows no period, as a steady load would not";
  }
  return c;
}

}  // namespace

Comparison compare(const IterationEstimate& used, const IterationEstimate& other) {
  if (!used.periodic || !other.periodic) return without_period(used, other);
  Comparison c;
  c.check.source = other.source;
  const double ratio = *other.period / *used.period;
  c.check.ratio = ratio;
  c.check.agrees = true;
  const double k = std::round(std::max(ratio, 1 / ratio));
  const double within = tolerance(used, other);
  const bool near = std::abs(std::max(ratio, 1 / ratio) - k) <= within * k;
  if (near && k < 1.5) {
    c.finding = Agreement::same;
    c.check.why = "it finds the same period";
  } else if (other.relation == PeriodRelation::beat || used.relation == PeriodRelation::beat) {
    c.check.why = "a beat with the sensor says nothing of the length";
  } else if (within * k > kTooVague) {
    c.check.why = ratio < 1 ? cat("about ", number(k, 0), " of its periods in one: too many to compare")
                            : cat("one of its periods is about ", number(k, 0), ": too many to compare");
  } else if (near) {
    c.finding = Agreement::whole;
    c.check.why = ratio < 1 ? whole_part(used.source, other.source, k) : whole_multiple(used.source, k);
  } else {
    c.finding = Agreement::contradicted;
    c.check.agrees = false;
    c.check.why = cat("it finds ", *other.period, ", no whole multiple or part of ", *used.period);
  }
  return c;
}

double after_check(double confidence, const IterationEstimate& used, const IterationEstimate& other,
                   Agreement finding) {
  const double cap = other.source == ProgressSource::telemetry ? kTelemetryCheck : kOtherCheck;
  double check = std::min(other.confidence, cap);
  if (finding == Agreement::same) {
    const bool independent = used.source == ProgressSource::marks || other.source == ProgressSource::marks;
    const double chance = independent ? kAgreeByChance : kAgreeByCommonCause;
    const double both_right = confidence * check;
    const double both_wrong = (1 - confidence) * (1 - check) * chance;
    if (both_right <= 0) return confidence;
    return std::max(confidence, std::min(kSurest, both_right / (both_right + both_wrong)));
  }
  if (finding == Agreement::contradicted) {
    if (!other.periodic) check *= kNoPeriodInKernels;
    // At most one is right, given that not both are.
    return confidence * (1 - check) / (1 - confidence * check);
  }
  return confidence;
}

}  // namespace rubato::progress
