// Every metric of the page: name, type, unit and meaning, in the order of the page. docs/exporter.md has the
// same list for people, and a test holds the two together.
#pragma once

#include <span>
#include <string_view>

#include "report/metrics.h"

namespace rubato::exporter {

struct MetricInfo {
  std::string_view name;
  report::MetricType type = report::MetricType::gauge;
  std::string_view unit;
  std::string_view help;
};

[[nodiscard]] std::span<const MetricInfo> catalogue();

}  // namespace rubato::exporter
