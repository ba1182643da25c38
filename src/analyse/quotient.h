// The quotient of two means per iteration, with its interval.
#pragma once

#include <optional>
#include <string_view>

#include "analyse/batches.h"
#include "analyse/summary.h"

namespace rubato::analyse {

/// A mean and where it was taken: "the found setting", "B". The name stands in why there is no interval.
struct NamedMean {
  const Mean& mean;
  std::string_view where;
};

/// Above over below; the errors of the two are independent.
[[nodiscard]] Estimate quotient(const NamedMean& above, const NamedMean& below);

/// The standard error of the quotient's logarithm; absent where one of the means has no error.
[[nodiscard]] std::optional<double> log_error(const Mean& above, const Mean& below);

}  // namespace rubato::analyse
