#include "cli/report/telemetry_points.h"

#include <algorithm>

namespace rubato::cli {

using progress::TelemetryPoint;

std::vector<TelemetryPoint> points_of(const TelemetryTrace& trace) {
  std::vector<TelemetryPoint> points;
  points.reserve(trace.rows.size());
  for (const TelemetryRow& row : trace.rows)
    points.push_back({row.at, row.power, row.sm_utilisation, row.memory_utilisation, row.sm_clock});
  return points;
}

std::vector<TelemetryPoint> points_of(const record::DeviceRecord& device) {
  std::vector<TelemetryPoint> points;
  points.reserve(device.fast.size() + device.slow.size());
  auto slow = device.slow.begin();
  const auto add_slow = [&](TelemetryPoint point) {
    point.sm_utilisation = slow->sm_utilisation;
    point.memory_utilisation = slow->memory_utilisation;
    point.sm_clock = slow->sm_clock;
    ++slow;
    points.push_back(point);
  };
  for (const FastReading& fast : device.fast) {
    while (slow != device.slow.end() && slow->at < fast.at) add_slow({.at = slow->at});
    TelemetryPoint point{.at = fast.at, .power = fast.power};
    if (slow != device.slow.end() && slow->at == fast.at)
      add_slow(point);
    else
      points.push_back(point);
  }
  while (slow != device.slow.end()) add_slow({.at = slow->at});
  return points;
}

std::vector<std::string> columns_of(const std::vector<TelemetryPoint>& points) {
  std::vector<std::string> columns;
  const auto have = [&](const char* name, auto member) {
    if (std::ranges::any_of(points, [&](const TelemetryPoint& p) { return (p.*member).has_value(); }))
      columns.emplace_back(name);
  };
  have("power_w", &TelemetryPoint::power);
  have("sm_util_pct", &TelemetryPoint::sm_utilisation);
  have("memory_util_pct", &TelemetryPoint::memory_utilisation);
  have("sm_clock_mhz", &TelemetryPoint::sm_clock);
  return columns;
}

}  // namespace rubato::cli
