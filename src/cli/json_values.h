// Numbers as JSON outputs print them.
#pragma once

#include <optional>

#include "report/value.h"

namespace rubato::cli {

/// Every digit.
[[nodiscard]] inline report::Value exact(double number) {
  return report::Amount{number, "", 0};
}
/// Four digits: what is known of a share is no better.
[[nodiscard]] inline report::Value fraction(double value) {
  return report::Amount{value, "", 4};
}
[[nodiscard]] inline report::Value fraction(const std::optional<double>& value, const char* why) {
  return value ? fraction(*value) : report::Value(report::Missing{why});
}

}  // namespace rubato::cli
