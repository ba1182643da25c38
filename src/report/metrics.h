// Metrics as a page for Prometheus, in its own text format and in OpenMetrics. A sample that is no finite
// number is left out: what could not be read is absent, never zero.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rubato::report {

enum class MetricType {
  gauge,
  counter,  // never falls but to begin anew; its name ends in _total
  /// Samples are what the suffixes _bucket (with the label le), _sum and _count are about.
  histogram,
  info,  // its labels say it all, its value is 1; its name ends in _info
};

struct MetricSample {
  std::vector<std::pair<std::string, std::string>> labels;  // names are [a-z_]+; values may be any bytes
  double value = 0.0;
  std::string_view suffix{};  // of a histogram
};

struct MetricFamily {
  std::string name;  // as it is asked for: "rubato_gpu_energy_joules_total"
  MetricType type = MetricType::gauge;
  std::string unit;  // in the name, before _total: "joules"; empty: none
  std::string help;  // one sentence
  std::vector<MetricSample> samples;
};

enum class MetricsFormat {
  prometheus_text,  // 0.0.4, https://prometheus.io/docs/instrumenting/exposition_formats
  open_metrics,     // 1.0, RFC draft draft-richih-opsawg-openmetrics-00
};

/// What a client that sends this `Accept` header gets: OpenMetrics where it names that, text else.
[[nodiscard]] MetricsFormat metrics_format_for(std::string_view accept);
[[nodiscard]] std::string_view content_type(MetricsFormat format);

/// Families without samples are left out. Bytes of labels that are not UTF-8 become "?", as readers refuse
/// the whole page for one of them.
[[nodiscard]] std::string render_metrics(std::span<const MetricFamily> families, MetricsFormat format);

}  // namespace rubato::report
